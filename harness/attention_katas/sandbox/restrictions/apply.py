"""All locks, one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from . import descriptors, environment, landlock, privileges, resources, seccomp, session


def apply_all(
    keep: Iterable[int],
    parent: int,
    ruleset: landlock.Ruleset,
    *,
    memory_mb: int,
    cpu_seconds: int,
) -> list[str]:
    """Every lock that this system has; the names of those that hold."""
    held = [
        descriptors.apply((*keep, *ruleset.keep)),
        session.apply(parent),
        environment.apply(),
        resources.apply(memory_mb, cpu_seconds),
        privileges.apply(),
        landlock.apply(ruleset),
    ]
    if memory_mb:  # which calls a GPU's driver needs was never tried
        held.append(seccomp.apply(writes=landlock.NAME in held))
    return [name for name in held if name]
