"""The judge service of a class on this machine: several judging processes side by side."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

from attention_katas.errors import CouldNotGrade
from attention_katas.packs.catalog import Kata, load_catalog
from attention_katas.packs.submission import Submission, submission
from attention_katas.service import machine, many
from attention_katas.service.judge_process import Answer, JudgeProcesses
from attention_katas.service.judge_service import Cancelled, Task
from attention_katas.service.settings import Settings
from attention_katas.verdict import data as v
from attention_katas.verdict import words


class Pool:
    """Judging processes of this machine, one for each thread of a pool.

    They start with the first submission. A process stays on one core if there are enough.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._processes = JudgeProcesses()
        self._of_thread = threading.local()
        self._cores = machine.cores()
        self._turn = 0
        self._threads = itertools.count()
        self._executor = ThreadPoolExecutor(settings.workers, "judge", self._take_core)

    def _take_core(self) -> None:
        number = next(self._threads)
        spare = self._settings.workers <= len(self._cores)
        self._of_thread.core = self._cores[number] if spare else None

    def judge_all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, v.Verdict]]:
        workers = many.Workers(
            lambda request: self._executor.submit(self._judge, request),
            lambda: self._settings.workers,
            Future.result,
        )
        return many.judge_all(workers, tasks)

    def _judge(self, request: bytes) -> Answer:
        return self._processes.judge(self._settings, request, self._of_thread.core)

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._turn
        self._processes.allow()
        task = Task("", submission, secrets.randbelow(1_000_000) if seed is None else seed)
        try:
            ((_, verdict),) = self.judge_all([task])
        except CancelledError:
            raise Cancelled from None
        if turn != self._turn:
            raise Cancelled
        return verdict

    def cancel(self) -> None:
        self._turn += 1
        self._processes.kill_all()

    def expect(self, kata: Kata) -> None:
        """Every process knows all katas: nothing is left to prepare."""

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._processes.kill_all()
        self._executor.shutdown(wait=True)
        self._processes.close()


def try_out() -> None:
    """Judge a right answer with all restrictions. Raises CouldNotGrade if that is impossible."""
    catalog = load_catalog()
    kata = catalog.ready[0]
    pool = Pool(Settings())
    try:
        verdict = pool.judge(submission(catalog, kata, kata.reference), 0)
    finally:
        pool.close()
    if verdict.outcome != v.PASSED:
        message = f"this machine cannot judge: {words.verdict(verdict)}"
        raise CouldNotGrade(message, "kata doctor")
