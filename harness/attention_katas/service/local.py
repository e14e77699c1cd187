"""Judging in this process."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attention_katas import devices
from attention_katas.packs.catalog import Catalog, Kata, content_root
from attention_katas.packs.submission import Submission
from attention_katas.service.judge_service import Cancelled
from attention_katas.verdict import data as v

if TYPE_CHECKING:
    from attention_katas.judge.judge import Judge
    from attention_katas.sandbox.limits import Limits

PACKAGE = Path(__file__).resolve().parents[1]


def hidden_paths(catalog: Catalog) -> list[Path]:
    """What a sandbox worker must not read: this package, the tests and the references."""
    root = content_root()
    paths = [PACKAGE, root / "katas", root / "reference"]
    return paths + [path for pack in catalog.packs for path in (pack.folder, pack.reference)]


@contextlib.contextmanager
def open_judge(
    catalog: Catalog,
    katas: Sequence[Kata],
    device: str = "cpu",
    spawn: bool = False,
    limits: Limits | None = None,
    strict: bool = False,
    weak: bool = False,
) -> Iterator[Judge]:
    """A judge with sandbox workers. Starts those first: both import torch, side by side.

    strict, weak: see Judge.
    """
    from attention_katas.sandbox.restrictions import linux
    from attention_katas.sandbox.start import start_workers

    # Code of the same user cannot look into this process, or dump it.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    judge_device = devices.choose(device)
    paths = hidden_paths(catalog)
    with start_workers(paths, device=judge_device.name, spawn=spawn, limits=limits) as workers:
        workers.expect(katas[0].banned)
        from attention_katas.diagnosis.causes import FindCauses
        from attention_katas.judge.judge import Judge

        causes = FindCauses(catalog.modules)
        judge = Judge(katas, workers, judge_device, strict, weak, diagnose=causes)
        if not gc.isenabled():  # switched off by the command while it imports
            gc.freeze()
            gc.enable()
        yield judge


class Local:
    """A judge service in this process. The judge starts with the first submission."""

    def __init__(
        self,
        catalog: Catalog,
        katas: Sequence[Kata] = (),
        device: str = "auto",
        *,
        spawn: bool = False,
        strict: bool = False,
        weak: bool = False,
    ) -> None:
        """katas: those that will be judged, the first one first; all when there are none."""
        self.catalog, self._katas = catalog, list(katas) or catalog.ready
        self._device, self._spawn, self._strict, self._weak = device, spawn, strict, weak
        self._stack = contextlib.ExitStack()
        self._judge: Judge | None = None
        self._starting = threading.Lock()
        self._judging = threading.Lock()
        self._turn = 0

    def start(self) -> Judge:
        """Start the judge, if it has not started. Raises KataError if that is impossible here."""
        with self._starting:
            if self._judge is None:
                judge = open_judge(
                    self.catalog,
                    self._katas,
                    self._device,
                    self._spawn,
                    strict=self._strict,
                    weak=self._weak,
                )
                self._judge = self._stack.enter_context(judge)
            return self._judge

    @property
    def device(self) -> str:
        """The device that the judge runs code on; "" before it has started."""
        return self._judge.device.name if self._judge else ""

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._turn
        judge = self.start()
        with self._judging:
            if turn != self._turn:
                raise Cancelled
            verdict = judge.judge(submission, seed)
        if turn != self._turn:
            raise Cancelled
        return verdict

    def cancel(self) -> None:
        self._turn += 1
        if self._judge is not None:
            self._judge.cancel()

    def expect(self, kata: Kata) -> None:
        self.start().workers.expect(kata.banned)

    def close(self) -> None:
        self.cancel()
        with self._starting, self._judging:
            self._stack.close()
