"""What a sandbox worker may not do: one module for each restriction, applied in this order.

The order matters: descriptors first, then the session and its limits, then the file system, and
last the system calls that the others need. Each `apply` returns the name of its restriction when it
holds and "" when this system does not have it, so that a verdict can list those that held.
"""

from __future__ import annotations

from collections.abc import Sequence

# Names only: the judge must be able to list what is missing without loading the modules.
ALL = (
    "closed descriptors",
    "own session",
    "empty environment",
    "memory, time and size limits",
    "no new privileges",
    "read-only files",
    "system calls",
)


def missing(names: Sequence[str]) -> list[str]:
    """The restrictions that are not among these names, in order."""
    return [name for name in ALL if name not in names]
