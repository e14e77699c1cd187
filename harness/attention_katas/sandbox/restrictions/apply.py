"""All restrictions, one after the other."""

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
    """Apply every restriction that this system has; returns the names of those that hold.

    keep: descriptors that stay open.
    parent: the process to end with.
    memory_mb: address space on top of what the process has now; 0 for a GPU, without a limit.
    cpu_seconds: processor time of the process.
    """
    names = [
        descriptors.apply((*keep, *ruleset.keep)),
        session.apply(parent),
        environment.apply(),
        resources.apply(memory_mb, cpu_seconds),
        privileges.apply(),
        landlock.apply(ruleset),
    ]
    if memory_mb:  # nobody has tried which calls a GPU's driver needs
        names.append(seccomp.apply(writes=landlock.NAME in names))
    return [name for name in names if name]
