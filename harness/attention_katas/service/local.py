"""One road for everybody: files in, verdicts out, recorded when there is a workspace."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from attention_katas import devices
from attention_katas.errors import KataError
from attention_katas.packs.catalog import Catalog, Kata, content_root
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.verdict import data as v

if TYPE_CHECKING:
    from attention_katas.judge.judge import Judge
    from attention_katas.sandbox.limits import Limits

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Job:
    """A kata and the file to judge it by; `shown` is how the file is named to the learner."""

    kata: Kata
    path: Path
    shown: str


def hidden_paths(catalog: Catalog) -> list[Path]:
    """What a learner process must not read: this package, the tests and the references."""
    root = content_root()
    ours = [PACKAGE, root / "katas", root / "reference"]
    return ours + [path for pack in catalog.packs for path in (pack.folder, pack.reference)]


class Warm(Protocol):
    """A judge elsewhere that needs no start. See `daemon.client`."""

    def judge(
        self, submission: Submission, seed: int | None, meanwhile: Callable[[], object]
    ) -> v.Verdict | None:
        """The verdict; None if it has none to give, for whatever reason."""

    def start(self) -> None:
        """There was none; let there be one the next time."""


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
    """A judge with learner processes. Starts those first: both import torch, side by side.

    strict, weak: see Judge.
    """
    from attention_katas.sandbox.restrictions import linux
    from attention_katas.sandbox.start import start_workers

    # Code of the same user cannot look into this process, or dump it.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    chosen = devices.choose(device)
    hidden = hidden_paths(catalog)
    with start_workers(hidden, device=chosen.name, spawn=spawn, limits=limits) as workers:
        workers.expect(katas[0].banned)
        from attention_katas.diagnosis.causes import FindCauses
        from attention_katas.judge.judge import Judge

        causes = FindCauses(catalog.modules)
        judge = Judge(katas, workers, chosen, strict, weak, diagnose=causes)
        if not gc.isenabled():  # switched off by the command while it imports
            gc.freeze()
            gc.enable()
        try:
            yield judge
        finally:
            judge.close()


def run(
    catalog: Catalog,
    jobs: Iterable[Job],
    *,
    device: str = "cpu",
    seed: int | None = None,
    spawn: bool = False,
    strict: bool = False,
    weak: bool = False,
    warm: Warm | None = None,
    tell: Callable[[v.Verdict, str], None] = lambda verdict, source: None,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[v.Verdict]:
    """Judge every job, calling `tell(verdict, source)` as each is done.

    What needs no judge is told at once, without importing torch. warm: asked before a judge is
    started here. meanwhile: to be done while that is at work.
    """
    taken = [(job, read_submission(catalog, job.kata, job.path, job.shown)) for job in jobs]
    waiting = [job.kata for job, found in taken if isinstance(found, Submission)]
    verdicts = []
    with contextlib.ExitStack() as stack:
        judge: Judge | None = None
        for _, found in taken:
            if not isinstance(found, Submission):
                verdict, source = found, ""
            else:
                source = found.source
                answer = warm.judge(found, seed, meanwhile) if warm and not judge else None
                if answer is None:
                    judge = judge or stack.enter_context(
                        open_judge(catalog, waiting, device, spawn, strict=strict, weak=weak)
                    )
                    answer = judge.judge(found, seed)
                verdict = answer
            tell(verdict, source)
            verdicts.append(verdict)
    if warm and judge and judge.device.name == "cpu":
        warm.start()
    return verdicts


def jobs_for(workspace: Workspace, katas: Iterable[Kata]) -> list[Job]:
    """The learner's own files. Raises KataError for a kata that is not in this version."""
    jobs = []
    for kata in katas:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
        jobs.append(Job(kata, workspace.path(kata), workspace.shown(kata)))
    return jobs
