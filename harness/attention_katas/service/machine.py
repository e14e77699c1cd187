"""What this machine offers to judging: processor cores, and the memory that processes take."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from attention_katas.sandbox.restrictions import linux

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores() -> list[int]:
    """Numbers of the processor cores that this process may use, within its container's quota."""
    if hasattr(os, "sched_getaffinity"):
        numbers = sorted(os.sched_getaffinity(0))
    else:
        numbers = list(range(os.cpu_count() or 1))
    with contextlib.suppress(OSError, ValueError, IndexError):
        quota, period = CPU_QUOTA.read_text(encoding="ascii").split()[:2]
        numbers = numbers[: max(1, int(quota) // int(period))]
    return numbers


def memory_mb(pid: int) -> float:
    """Proportional memory of a process and its descendants, in MiB (Linux)."""
    total, waiting = 0.0, [pid]
    while waiting:
        process = waiting.pop()
        waiting += linux.children_of(process)
        with contextlib.suppress(OSError, IndexError, ValueError):
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
            total += int(rollup.split("\nPss:")[1].split()[0]) / 1024
    return round(total, 1)
