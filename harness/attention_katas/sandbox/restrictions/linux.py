"""What the locks need of Linux that Python does not offer: the C library and /proc."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

HERE = sys.platform == "linux"


@functools.cache
def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> bool:
    """Whether the kernel took it."""
    return HERE and libc().prctl(option, value, 0, 0, 0) == 0


def children_of(pid: int) -> list[int]:
    """The children of a process; nothing where the system does not say."""
    with contextlib.suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(child) for child in text.split()]
    return []
