"""Where a program that judges again and again gets its verdicts."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Protocol

from attention_katas import verdict as v
from attention_katas.catalog import Catalog, Kata
from attention_katas.submission import Submission

if TYPE_CHECKING:
    from attention_katas.examiner.judge import Judge


class Cancelled(Exception):
    """The verdict is not wanted any more: something newer is to be judged."""


class Bench(Protocol):
    """Judges one submission at a time. `cancel` may be called from another thread."""

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        """Blocks until there is a verdict. Raises Cancelled, or KataError if none can be had."""

    def cancel(self) -> None:
        """End the judging under way, if there is one: its `judge` raises Cancelled."""

    def expect(self, kata: Kata) -> None:
        """This kata is likely the next one to be judged."""

    def close(self) -> None: ...


class LocalBench:
    """A judge in this process. It starts with the first submission, or at `warm_up`."""

    def __init__(self, catalog: Catalog, device: str = "auto", spawn: bool = False) -> None:
        self._catalog, self._device, self._spawn = catalog, device, spawn
        self._stack = contextlib.ExitStack()
        self._judge: Judge | None = None
        self._starting = threading.Lock()
        self._judging = threading.Lock()
        self._wanted = 0

    def warm_up(self) -> Judge:
        """Start what a verdict needs. Raises KataError when that is not to be had here."""
        from attention_katas.running import open_judge

        with self._starting:
            if self._judge is None:
                self._judge = self._stack.enter_context(
                    open_judge(self._catalog, self._catalog.ready, self._device, self._spawn)
                )
            return self._judge

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._wanted
        judge = self.warm_up()
        with self._judging:
            if turn != self._wanted:
                raise Cancelled
            verdict = judge.judge(submission, seed)
        if turn != self._wanted:
            raise Cancelled
        return verdict

    def cancel(self) -> None:
        self._wanted += 1
        if self._judge is not None:
            self._judge.cancel()

    def expect(self, kata: Kata) -> None:
        if self._judge is not None:
            self._judge.learners.expect(kata.banned)

    def close(self) -> None:
        self.cancel()
        with self._starting, self._judging:
            self._stack.close()


def open_bench(catalog: Catalog, device: str = "auto", spawn: bool = False) -> Bench:
    """The bench that this system allows."""
    return LocalBench(catalog, device, spawn)
