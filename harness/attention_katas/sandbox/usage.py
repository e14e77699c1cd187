"""What a learner process uses, seen from outside: time, waiting, memory, threads (Linux).

Time limits are about the code, not about the machine. A process that wants to run but waits for
a processor because of *other* work is not slow; `/proc/PID/task/*/schedstat` says for how long it
waited. The time that counts is

    max(processor time of all its threads, wall time - longest wait of a thread)

Code cannot stretch that by itself: threads of its own that keep each other waiting use up the
processor time meanwhile. Sleeping and deadlocking are no waiting.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PACE = 0.05  # seconds between two looks
PATIENCE = 6.0  # times the limit, in wall time, before a starved process is given up
BLIND_PATIENCE = 3.0  # the same where nothing can be seen, and so all wall time counts
SHARE = 0.25  # of a limit in processor time, after which wall time counts for a hasty one
THREADS = 512


@dataclass(frozen=True)
class Usage:
    """Of one process. seconds of processor time; waits: seconds by thread; rss in bytes.

    ended: it is over, though nobody has asked yet how.
    """

    seconds: float = 0.0
    waits: dict[str, float] = field(default_factory=dict)
    rss: int = 0
    ended: bool = False

    @property
    def threads(self) -> int:
        return len(self.waits)


def usage(pid: int) -> Usage | None:
    """What the process has used so far; None where the system does not say or it is gone."""
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
            except (OSError, IndexError):  # a thread that is gone, a kernel that does not count
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
    """How many threads a process has; 0 where the system does not say."""
    if sys.platform != "linux" or not pid:
        return 0
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


class UsageMonitor:
    """From a question to its answer: how much of the limit is used up."""

    def __init__(self, pid: int, seconds: float, interactive: bool = False) -> None:
        self.pid, self.seconds, self.interactive = pid, seconds, interactive
        self.started = time.monotonic()
        self.before = usage(pid)
        self.now = self.before
        self.longest_wait = 0.0

    def look(self) -> None:
        self.now = usage(self.pid)
        if self.before is not None and self.now is not None:
            waits = (w - self.before.waits.get(t, 0.0) for t, w in self.now.waits.items())
            self.longest_wait = max(self.longest_wait, *waits, 0.0)

    @property
    def wall(self) -> float:
        return time.monotonic() - self.started

    @property
    def worked(self) -> float:
        """Seconds of processor time since the question."""
        if self.before is None or self.now is None:
            return 0.0
        return self.now.seconds - self.before.seconds

    @property
    def out_of_time(self) -> bool:
        """The code has had its seconds."""
        if self.now is not None and self.now.ended:
            return False  # the end of its line is about to be read
        if self.before is None:
            return self.wall > self.seconds * BLIND_PATIENCE
        if self.interactive and self.worked > self.seconds * SHARE and self.wall > self.seconds:
            return True
        return max(self.worked, self.wall - self.longest_wait) > self.seconds

    @property
    def starved(self) -> bool:
        """The machine has not given the code its seconds, and does not look as if it would."""
        return self.wall > self.seconds * PATIENCE

    @property
    def grown(self) -> int:
        """Bytes of memory that came on top since the question."""
        return self.now.rss - self.before.rss if self.now and self.before else 0

    @property
    def threads(self) -> int:
        return self.now.threads if self.now else 0
