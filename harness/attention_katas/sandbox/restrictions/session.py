"""Own session: the process ends with its parent, and so does all that it leaves behind."""

from __future__ import annotations

import contextlib
import os
import signal

from . import linux

NAME = "own session"


def apply(parent: int) -> str:
    """A session of its own that dies with its parent; ends at once if that is gone already."""
    if not hasattr(os, "setsid"):
        return ""
    with contextlib.suppress(OSError):
        os.setsid()
    held = os.getsid(0) == os.getpid()
    if linux.HERE:
        held = linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL) and held
        if os.getppid() != parent:
            os._exit(0)
    return NAME if held else ""


def adopt_orphans() -> None:
    """Whatever a descendant leaves behind becomes a child of this process, to be ended by it."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
