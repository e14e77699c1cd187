"""Limits that the kernel enforces: memory, file size, descriptors, core dumps, processor time."""

from __future__ import annotations

import contextlib
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has none; the time and output limits still hold there.
    resource = None  # type: ignore[assignment]

NAME = "memory, time and size limits"
WITHOUT_MEMORY = "time and size limits"
MiB = 1 << 20
# Quotas that all processes of a user share: pending signals, locked memory, message queues.
SHARED = {"RLIMIT_SIGPENDING": 64, "RLIMIT_MEMLOCK": 0, "RLIMIT_MSGQUEUE": 0}


def apply(memory_mb: int, cpu_seconds: int) -> str:
    """Set all limits. Call it after torch is imported, whose memory is not counted.

    memory_mb: address space that the code may take on top of the process as it is now; 0 for no
        limit, since GPU drivers reserve address space by the terabyte.
    cpu_seconds: processor time of the process.
    """
    if resource is None:
        return ""
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    _cap(resource.RLIMIT_NOFILE, 64)
    _cap(resource.RLIMIT_CPU, cpu_seconds)
    for name, value in SHARED.items():
        if hasattr(resource, name):
            _cap(getattr(resource, name), value)
    size = _address_space()
    if memory_mb and size and _cap(resource.RLIMIT_AS, size + memory_mb * MiB):
        return NAME
    return WITHOUT_MEMORY


def _cap(kind: int, value: int) -> bool:
    """Lower a limit; whether it is now at most `value`."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value))
        return True
    return False


def _address_space() -> int:
    """Bytes of address space that this process has now; 0 if the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()
