"""Own session: the process ends with its parent, and so do the processes that it started."""

from __future__ import annotations

import contextlib
import os
import signal

from . import linux

NAME = "own session"


def apply(parent: int) -> str:
    """Start a session that dies with its parent; end at once if the parent has ended already."""
    if not hasattr(os, "setsid"):
        return ""
    with contextlib.suppress(OSError):
        os.setsid()
    holds = os.getsid(0) == os.getpid()
    if linux.IS_LINUX:
        holds = linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL) and holds
        if os.getppid() != parent:
            os._exit(0)
    return NAME if holds else ""


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, so that it can end them."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
