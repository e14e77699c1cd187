"""Signs and cells for terminals that can show them, and for those that cannot."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """What stands for what on this terminal. `ramp` goes from a weight of 0 to a weight
    of 1; without one there are only the digits, since ASCII has no bars that are not also signs.
    """

    passed: str
    failed: str
    waiting: str
    here: str
    zero: str
    masked: str
    ramp: str
    rule: str


UNICODE = Glyphs("✓", "✗", "·", "›", "·", "╱╱", "▁▂▃▄▅▆▇█", "─")
ASCII = Glyphs("+", "x", ".", ">", ".", "//", "", "-")


def for_encoding(encoding: str) -> Glyphs:
    """The Unicode signs if the encoding can carry all of them, else ASCII."""
    try:
        "".join(vars(UNICODE).values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def safe(text: str) -> str:
    """Text from a submission without what could steer a terminal: no escapes, no control signs.

    In a log of GitHub Actions `::set-output` and `##[group]` would be commands: they are broken up.
    """
    if "GITHUB_ACTIONS" in os.environ:
        text = text.replace("::", ": :").replace("##[", "# #[")
    return printable(text)


def printable(text: str) -> str:
    """Text with control characters spelled out, except for line ends and tabs."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode()
        for sign in text
    )
