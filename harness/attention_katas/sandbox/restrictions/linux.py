"""What the restrictions need of Linux and Python does not offer: the C library and /proc."""

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

IS_LINUX = sys.platform == "linux"


@functools.cache
def libc() -> Any:
    """The C library."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> bool:
    """Set an option of this process; whether the kernel accepted it."""
    return IS_LINUX and libc().prctl(option, value, 0, 0, 0) == 0


def children_of(pid: int) -> list[int]:
    """The children of a process; none if the system does not tell."""
    with contextlib.suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(child) for child in text.split()]
    return []
