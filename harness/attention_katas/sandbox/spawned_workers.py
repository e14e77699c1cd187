"""Sandbox workers where torch does not survive a fork: one for each submission."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from attention_katas.errors import CouldNotGrade
from attention_katas.packs.families import Family
from attention_katas.sandbox.channel import PipeChannel
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.worker import (
    START_SECONDS,
    Worker,
    WorkerDied,
    WorkerTimedOut,
    command,
    end_process,
    environment,
    how_it_ended,
)
from attention_katas.verdict import reasons


class SpawnedWorkers:
    """One worker for the present submission, and a spare that is warm for the next."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._spare: _Spawned | None = self._spawn()
        self._current: _Spawned | None = None

    def _spawn(self) -> _Spawned:
        return _Spawned(command("alone", self.hidden, self.limits, self.device), self.limits)

    def expect(self, bans: Sequence[Family], ahead: int = 0) -> None:
        """Does nothing: the spare takes any bans."""

    def take(self, key: object, bans: Sequence[Family]) -> Worker:
        """The worker of this submission, or the spare if there is none that still lives."""
        current = self._current
        if current is not None and current.healthy and current.key == (key, tuple(bans)):
            return current
        if current is not None:
            current.dismiss()
        worker = self._spare or self._spawn()
        self._spare = self._spawn()
        self._current = None
        try:
            worker.greet((key, tuple(bans)))
            worker.ask(
                {"do": "prepare", "bans": [family.to_dict() for family in bans]},
                seconds=START_SECONDS,
            )
        except (WorkerDied, WorkerTimedOut) as error:
            raise CouldNotGrade(
                f"the sandbox worker did not start: {error}", "kata doctor"
            ) from None
        self._current = worker
        return worker

    def give_back(self, worker: Worker) -> None:
        """Does nothing: the worker stays for the next check of the same submission."""

    def restart(self) -> None:
        """Use new processes after old ones were lost."""
        self.close()

    def close(self) -> None:
        for worker in (self._spare, self._current):
            if worker is not None:
                worker.dismiss()
        self._spare = self._current = None


class _Spawned(Worker):
    def __init__(self, command_line: list[str], limits: Limits) -> None:
        self._process = subprocess.Popen(
            command_line,
            env=environment(),
            cwd=os.path.abspath(os.sep),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=os.name != "nt",  # Ctrl-C is for this process alone
        )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        super().__init__(PipeChannel(process.stdin, process.stdout, process.stderr, limits), limits)

    def end(self) -> reasons.Reason:
        deadline = time.monotonic() + 0.2
        while self._process.poll() is None and time.monotonic() < deadline and not self.healthy:
            time.sleep(0.005)
        end_process(self._process)
        code = self._process.returncode
        if code < 0:
            return how_it_ended(-code)
        return reasons.ProcessExited(code)
