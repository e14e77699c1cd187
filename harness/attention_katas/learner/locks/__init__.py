"""What a learner process may not do: one module for each lock, put on in this order.

The order matters: descriptors first, then the session and its limits, then the file system, and
last the system calls that the others needed. Each `put_on` returns the name of its lock when it
holds and "" when this system has no such lock, so that a verdict can say which were on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import descriptors, environment, landlock, privileges, resources, seccomp, session

ALL = (
    descriptors.NAME,
    session.NAME,
    environment.NAME,
    resources.NAME,
    privileges.NAME,
    landlock.NAME,
    seccomp.NAME,
)


def put_on_all(
    keep: Iterable[int],
    parent: int,
    ruleset: landlock.Ruleset,
    *,
    memory_mb: int,
    cpu_seconds: int,
) -> list[str]:
    """Every lock that this system has; the names of those that hold."""
    held = [
        descriptors.put_on((*keep, *ruleset.keep)),
        session.put_on(parent),
        environment.put_on(),
        resources.put_on(memory_mb, cpu_seconds),
        privileges.put_on(),
        landlock.put_on(ruleset),
        # Which calls a GPU's driver needs was never tried.
        seccomp.put_on() if memory_mb else "",
    ]
    return [name for name in held if name]


def missing(held: Sequence[str]) -> list[str]:
    """The locks that are not on, in order."""
    return [name for name in ALL if name not in held]
