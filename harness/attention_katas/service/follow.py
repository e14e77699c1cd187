"""The newest save wins: one thread that works on what is newest and drops what is older."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from attention_katas.errors import KataError
from attention_katas.packs.catalog import Kata
from attention_katas.packs.precheck import blank
from attention_katas.packs.submission import Submission
from attention_katas.service.judge_service import Cancelled, JudgeService
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import facts

J = TypeVar("J")
CLOSE_SECONDS = 10.0


class Follow(Generic[J]):
    """Does jobs in a thread of its own, one at a time. A newer job cancels the one it replaces.

    Its public attributes change under `lock` only. All methods may be called from any thread.

    waiting: jobs that come next, in this order.
    running: the job under way.
    """

    def __init__(
        self,
        service: JudgeService,
        work: Callable[[J], None],
        after: Callable[[J | None], None] = lambda job: None,
        begin: Callable[[], object] = lambda: None,
    ) -> None:
        """work: does a job, in the thread; it asks `judge` for verdicts.

        after: is called in the thread after each job, and with None after `look_again`.
        begin: is called in the thread before the first job; it may block.
        """
        self.lock = threading.RLock()
        self.waiting: list[J] = []
        self.running: J | None = None
        self._news = threading.Condition(self.lock)
        self._service = service
        self._work, self._after, self._begin = work, after, begin
        self._superseded = self._closed = self._look_again = False
        self._expected = ""
        self._thread = threading.Thread(target=self._run, name="judging", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, jobs: Sequence[J], *, only: bool = False) -> None:
        """Do these next, in this order; cancel what is under way if it is one of them.

        only: drop every other job, also the one under way.
        """
        with self._news:
            later = [] if only else [job for job in self.waiting if job not in jobs]
            self.waiting = [*jobs, *later]
            is_replaced = self.running is not None and (only or self.running in jobs)
            self._superseded = self._superseded or is_replaced or only
            self._news.notify_all()
        if is_replaced:
            self._service.cancel()

    def look_again(self) -> None:
        """Call `after` once more, though there is no job."""
        with self._news:
            self._look_again = True
            self._news.notify_all()

    @property
    def superseded(self) -> bool:
        """Nobody wants the result of the job under way any more."""
        return self._closed or self._superseded

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """End the thread, and close the service."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        self._service.cancel()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)
        self._service.close()

    def _run(self) -> None:
        self._begin()
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self.waiting or self._look_again)
                if self._closed:
                    return
                job = self.running = self.waiting.pop(0) if self.waiting else None
                self._look_again = self._superseded = False
            if job is not None:
                self._work(job)
                self.done()
            self._after(job)

    def done(self) -> None:
        """The job under way has its result: nothing is left to cancel."""
        with self.lock:
            self.running = None

    def judge(self, submission: Submission) -> v.Verdict | None:
        """The verdict, `could not grade` if none can be had; None when it is superseded."""
        while not self.superseded:
            try:
                return self._service.judge(submission)
            except Cancelled:
                continue  # if nothing newer is wanted, this was meant for the job before
            except KataError as error:
                return ungraded(submission, *facts(error))
            except Exception as error:  # noqa: BLE001
                # Whatever the service has, the next save is to be judged again.
                fault = reasons.JudgeFault(type(error).__name__, str(error))
                return ungraded(submission, fault, steps.Doctor())
        return None

    def expect(self, kata: Kata) -> None:
        """Let the service prepare for a kata; what is impossible is said with its verdict."""
        if self._expected != kata.name:
            self._expected = kata.name
            try:
                self._service.expect(kata)
            except Exception:  # noqa: BLE001
                self._expected = ""


def ungraded(submission: Submission, reason: reasons.Reason, next_step: steps.Step) -> v.Verdict:
    """The verdict when none can be had."""
    return blank(submission.kata, v.COULD_NOT_GRADE, submission.file, reason, next_step)
