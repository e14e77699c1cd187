"""What a sandbox worker uses, seen from outside: time, waiting, memory, threads (Linux).

Time limits are about the code, not about the machine. A process that is ready to run but waits for
a processor because of *other* work is not slow; `/proc/PID/task/*/schedstat` has the time that it
waited. The time that counts is

    max(processor time of all its threads, wall time - longest wait of a thread)

Code cannot stretch that by itself: threads of its own that make each other wait use up processor
time meanwhile. Sleeping and deadlocks do not count as waiting.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PACE = 0.05  # seconds between two measurements
PATIENCE = 6.0  # times the limit, in wall time, after which a process counts as starved
BLIND_PATIENCE = 3.0  # times the limit where the system reports nothing: all wall time counts
SHARE = 0.25  # of a limit in processor time, after which wall time counts if interactive
THREADS = 512


@dataclass(frozen=True)
class Usage:
    """What one process has used since it started.

    seconds: processor time.
    waits: seconds that each thread waited for a processor, by thread id.
    rss: resident memory in bytes.
    ended: the process is a zombie.
    """

    seconds: float = 0.0
    waits: dict[str, float] = field(default_factory=dict)
    rss: int = 0
    ended: bool = False

    @property
    def threads(self) -> int:
        return len(self.waits)


def usage(pid: int) -> Usage | None:
    """What the process has used so far; None if the system does not tell, or it is gone."""
    if sys.platform != "linux" or not pid:
        return None
    home = Path("/proc", str(pid))
    try:
        fields = (home / "stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        pages = int((home / "statm").read_text().split()[1])
        waits = {}
        for task in os.listdir(home / "task"):
            try:
                waits[task] = int((home / "task" / task / "schedstat").read_text().split()[1]) / 1e9
            except (OSError, IndexError):  # the thread is gone, or the kernel does not count
                waits[task] = 0.0
        return Usage(
            ticks / os.sysconf("SC_CLK_TCK"),
            waits,
            pages * os.sysconf("SC_PAGE_SIZE"),
            ended=fields[0] in "ZX",
        )
    except (OSError, ValueError, IndexError):
        return None


def threads(pid: int) -> int:
    """How many threads a process has; 0 if the system does not tell."""
    if sys.platform != "linux" or not pid:
        return 0
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


class UsageMonitor:
    """How much of its limits a worker has used since a request."""

    def __init__(self, pid: int, seconds: float, interactive: bool = False) -> None:
        self.pid, self.seconds, self.interactive = pid, seconds, interactive
        self.started = time.monotonic()
        self.before = usage(pid)
        self.now = self.before
        self.longest_wait = 0.0

    def look(self) -> None:
        """Measure now."""
        self.now = usage(self.pid)
        if self.before is not None and self.now is not None:
            waits = (w - self.before.waits.get(t, 0.0) for t, w in self.now.waits.items())
            self.longest_wait = max(self.longest_wait, *waits, 0.0)

    @property
    def wall(self) -> float:
        """Seconds of wall time since the request."""
        return time.monotonic() - self.started

    @property
    def worked(self) -> float:
        """Seconds of processor time since the request."""
        if self.before is None or self.now is None:
            return 0.0
        return self.now.seconds - self.before.seconds

    @property
    def out_of_time(self) -> bool:
        """Whether the code has used up its seconds."""
        if self.now is not None and self.now.ended:
            return False  # the channel is about to report its end
        if self.before is None:
            return self.wall > self.seconds * BLIND_PATIENCE
        if self.interactive and self.worked > self.seconds * SHARE and self.wall > self.seconds:
            return True
        return max(self.worked, self.wall - self.longest_wait) > self.seconds

    @property
    def starved(self) -> bool:
        """Whether the machine has not given the code its seconds in PATIENCE times the limit."""
        return self.wall > self.seconds * PATIENCE

    @property
    def grown(self) -> int:
        """Bytes by which its resident memory has grown since the request."""
        return self.now.rss - self.before.rss if self.now and self.before else 0

    @property
    def threads(self) -> int:
        """How many threads it had at the last measurement."""
        return self.now.threads if self.now else 0
