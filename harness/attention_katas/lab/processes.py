"""The worker processes of the lab: forked for each kata, or spawned for each set of bans."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attention_katas.errors import CouldNotGrade
from attention_katas.packs.families import Family
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.spawned_workers import SpawnedWorkers
from attention_katas.sandbox.start import Workers, start_workers


class Processes:
    """The sandbox workers of the lab; several threads may ask for one."""

    def __init__(self, hidden: Sequence[Path], spawn: bool = False) -> None:
        self._stack = contextlib.ExitStack()
        self._hidden, self._spawn = hidden, spawn
        self._lock = threading.Lock()
        self._spawned: dict[tuple[object, tuple[Family, ...]], Workers] = {}
        self._first = self._start()
        self.forks = not isinstance(self._first, SpawnedWorkers)
        self._unused: Workers | None = self._first

    def _start(self) -> Workers:
        return self._stack.enter_context(
            start_workers(self._hidden, spawn=self._spawn, limits=Limits(interactive=True))
        )

    def expect(self, bans: Sequence[Family]) -> None:
        with self._lock:
            self._first.expect(bans)

    def take(self, key: object, bans: Sequence[Family]) -> Any:
        with self._lock:
            try:
                return self._take(key, bans)
            except CouldNotGrade:  # the fork server was ended; a new one has started
                return self._take(key, bans)

    def _take(self, key: object, bans: Sequence[Family]) -> Any:
        if self.forks:
            return self._first.take(key, bans)
        # One that is spawned serves all katas with the same bans, for it takes seconds to make.
        group = (key, tuple(bans))
        if group not in self._spawned:
            self._spawned[group], self._unused = self._unused or self._start(), None
        return self._spawned[group].take("lab", bans)

    def dismiss(self, worker: Any) -> None:
        with self._lock, contextlib.suppress(OSError):
            worker.dismiss()

    def close(self) -> None:
        self._stack.close()


def peak_memory(pid: int) -> int:
    """The most memory that a process has had, in bytes (Linux)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((int(fields[1]) << 10 for fields in lines), 0)
