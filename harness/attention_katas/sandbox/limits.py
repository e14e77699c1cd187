"""How much one check may use. Generous: right code on a busy machine must stay below."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a sandbox worker.

    load_seconds: to load the file (see `usage` for what counts as a second).
    call_seconds: for one call.
    kata_seconds: wall-clock time for all checks of a kata together.
    memory_mb: address space on top of what torch itself takes, in MiB.
    interactive: a person waits, so wall time counts once the code has had its share of the
        processor, even when the machine is busy (see `usage.SHARE`).
    output_bytes: what the code may print before it is stopped.
    kept_bytes: how much of that is shown.
    """

    load_seconds: float = 10.0
    call_seconds: float = 10.0
    kata_seconds: float = 300.0
    memory_mb: int = 1024
    interactive: bool = False
    output_bytes: int = 1 << 20
    kept_bytes: int = 8 << 10
