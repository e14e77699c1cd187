"""What a learner process may not do: one module for each lock, put on in this order.

The order matters: descriptors first, then the session and its limits, then the file system, and
last the system calls that the others needed. Each `apply` returns the name of its lock when it
holds and "" when this system has no such lock, so that a verdict can say which were on.
"""

from __future__ import annotations

from collections.abc import Sequence

# Written out, so that it can be told which are missing without the tables that they need.
ALL = (
    "closed descriptors",
    "own session",
    "empty environment",
    "memory, time and size limits",
    "no new privileges",
    "read-only files",
    "system calls",
)


def missing(held: Sequence[str]) -> list[str]:
    """The locks that are not on, in order."""
    return [name for name in ALL if name not in held]
