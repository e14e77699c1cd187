"""How much one check may use. Generous: right code on a busy machine must not run into them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a learner process.

    load_seconds / call_seconds: wall-clock time to load the file, and for one call.
    kata_seconds: for all checks of a kata together.
    memory_mb: address space on top of what torch itself takes, in MiB.
    interactive: somebody waits. Then wall time counts as soon as the code has had its share of the
    processor (see `watch`), though the machine be busy with other work.
    output_bytes: what the code may print before it is stopped; `kept_bytes` of it are shown.
    """

    load_seconds: float = 10.0
    call_seconds: float = 10.0
    kata_seconds: float = 300.0
    memory_mb: int = 1024
    interactive: bool = False
    output_bytes: int = 1 << 20
    kept_bytes: int = 8 << 10
