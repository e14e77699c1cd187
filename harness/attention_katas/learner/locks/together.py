"""All locks, one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from . import descriptors, environment, landlock, privileges, resources, seccomp, session


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
    ]
    if memory_mb:  # which calls a GPU's driver needs was never tried
        held.append(seccomp.put_on(writes=landlock.NAME in held))
    return [name for name in held if name]
