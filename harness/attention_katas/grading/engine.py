"""From tasks to verdicts: by workers of this machine, or by those of a cluster.

What does the work is a `concurrent.futures.Executor`; only `cluster` knows what a cluster is. A
task whose workers were lost twice is set aside and tried once more when everything else is done,
with nothing beside it; if it is lost again it is `could not grade`.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from attention_katas.grading import worker
from attention_katas.grading.entries import Task
from attention_katas.packs.catalog import Selection
from attention_katas.packs.precheck import blank
from attention_katas.verdict import data as v

AHEAD = 4  # tasks that wait for each worker: so that none is idle, and little is in memory


@dataclass(frozen=True)
class Settings:
    """How to judge.

    packs: those that the command line names.
    weak: go on without the locks that this system lacks.
    """

    workers: int = 1
    packs: Selection = field(default_factory=Selection)
    device: str = "cpu"
    weak: bool = False
    kata_seconds: float = 120.0

    def config(self) -> dict[str, Any]:
        """As it goes to a judging process."""
        return {
            "packs": [str(folder) for folder in self.packs.folders],
            "only": self.packs.only,
            "device": self.device,
            "weak": self.weak,
            "kata_seconds": self.kata_seconds,
        }


def cores() -> list[int]:
    """The processor cores that this process may use, as far as a container's quota allows."""
    if hasattr(os, "sched_getaffinity"):
        found = sorted(os.sched_getaffinity(0))
    else:
        found = list(range(os.cpu_count() or 1))
    with contextlib.suppress(OSError, ValueError, IndexError):
        quota, period = open("/sys/fs/cgroup/cpu.max").read().split()[:2]  # noqa: SIM115
        found = found[: max(1, int(quota) // int(period))]
    return found


@contextlib.contextmanager
def this_machine(settings: Settings) -> Iterator[tuple[Executor, Callable[[Task], str]]]:
    """Workers of this machine; and how a task is written down for them."""
    available = cores()
    local = threading.local()
    turns = iter(range(settings.workers))

    def take_a_core() -> None:
        local.core = available[next(turns) % len(available)]

    def judge(text: str) -> str:
        asked = json.loads(text)
        if settings.workers <= len(available):
            asked["config"]["core"] = local.core
        return worker.judge(json.dumps(asked))

    worker.open_benches()
    pool = _Pool(settings.workers, judge, take_a_core)
    try:
        yield pool, lambda task: written(task, settings)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        worker.end_benches()
        pool.shutdown(wait=True)


class _Pool(ThreadPoolExecutor):
    """Threads that each keep a judging process; what they are asked to call is `judge`."""

    def __init__(
        self, workers: int, judge: Callable[[str], str], begin: Callable[[], None]
    ) -> None:
        super().__init__(workers, "judge", begin)
        self._judge = judge

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._judge if fn is worker.judge else fn, *args, **kwargs)


def written(task: Task, settings: Settings) -> str:
    """A task as it goes to a worker."""
    return json.dumps({"config": settings.config(), "task": task.to_dict()})


def judged(
    executor: Executor,
    write: Callable[[Task], str],
    tasks: Iterable[Task],
    workers: int | Callable[[], int],
    lost: Callable[[BaseException], str] = lambda error: "",
    ahead: int = AHEAD,
) -> Iterator[tuple[Task, v.Verdict]]:
    """Every task with its verdict, as they come; each key just once.

    workers: how many there are, or what tells how many there are now. lost: what an exception of
    the executor says about a task whose workers were lost; any for which it says nothing is raised.
    """
    aside: list[Task] = []
    waiting: dict[Future[str], Task] = {}
    source = iter(tasks)
    seen: set[str] = set()
    more = True
    while more or waiting:
        while more and len(waiting) < ahead * (workers if isinstance(workers, int) else workers()):
            task = next(source, None)
            if task is None:
                more = False
            elif task.key not in seen:
                seen.add(task.key)
                waiting[executor.submit(worker.judge, write(task))] = task
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            task = waiting.pop(future)
            found = _outcome(future, task, lost)
            if isinstance(found, v.Verdict):
                yield task, found
            else:
                aside.append(task)
    for task in aside:
        found = _outcome(executor.submit(worker.judge, write(task)), task, lost)
        yield task, found if isinstance(found, v.Verdict) else _given_up(task, found)


@dataclass(frozen=True)
class _Fault:
    """Why there is no verdict. Whether the task may be to blame: workers were lost over it."""

    said: str
    suspect: bool


def _outcome(
    future: Future[str], task: Task, lost: Callable[[BaseException], str]
) -> v.Verdict | _Fault:
    try:
        found = json.loads(future.result())
    except Exception as error:
        said = lost(error)
        if not said:
            raise
        return _Fault(said, True)
    if "lost" in found or "unfit" in found:
        return _Fault(str(found.get("lost") or found["unfit"]), "lost" in found)
    verdict = v.from_dict(found)
    verdict.file = task.submission.file
    return verdict


def _given_up(task: Task, fault: _Fault) -> v.Verdict:
    verdict = blank(task.submission.kata, v.COULD_NOT_GRADE, task.submission.file, fault.said)
    if fault.suspect:
        verdict.message = f"set aside: {fault.said}, and again when judged alone"
        verdict.audit = [f"{fault.said}, twice: look at what it does"]
    verdict.next_step = "kata doctor, and then the same once more"
    return verdict
