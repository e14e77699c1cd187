"""What every fact is: a small frozen struct whose `code` says which one it is.

A union of facts (why a check failed, what to do next) is encoded with the code of each, so that
JSON, the ledger and another process read back the very struct that was written.
"""

from __future__ import annotations

from typing import Union

import msgspec

# A number of a tensor. JSON has no words for "nan", "inf" and "-inf": those are strings, and so
# are complex numbers.
Cell = Union[bool, int, float, str]  # noqa: UP007 - msgspec reads it at run time


def _code(name: str) -> str:
    """`WrongShape` -> `wrong-shape`."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")


class Fact(msgspec.Struct, frozen=True, tag_field="code", tag=_code):
    """The base class of every fact."""
