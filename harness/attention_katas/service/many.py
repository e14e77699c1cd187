"""Many submissions side by side: the rules that hold for a pool and for a cluster.

A task whose workers were lost twice is set aside and tried once more when everything else is done,
with nothing beside it. If it is lost again it could not be graded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from attention_katas.packs.precheck import blank
from attention_katas.service import messages, rpc
from attention_katas.service.judge_process import Answer
from attention_katas.service.judge_service import Task
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps

AHEAD = 4  # tasks that wait for each worker: so that none is idle, and little is in memory


@dataclass(frozen=True)
class Workers:
    """Those who judge.

    submit: sends a request, which is a whole frame, to one of them.
    count: how many there are now.
    answer: the answer of a future that is done. Workers that were lost over the request are
        Refused with the code LOST; whatever it raises ends the judging.
    ahead: requests to send ahead, for each worker.
    """

    submit: Callable[[bytes], Future[Any]]
    count: Callable[[], int]
    answer: Callable[[Future[Any]], Answer]
    ahead: int = AHEAD


def judge_all(workers: Workers, tasks: Iterable[Task]) -> Iterator[tuple[Task, v.Verdict]]:
    """Every task with its verdict, as they come; each key once."""
    set_aside: list[Task] = []
    waiting: dict[Future[Any], Task] = {}
    source, more = _unique(tasks), True
    while more or waiting:
        while more and len(waiting) < workers.ahead * workers.count():
            task = next(source, None)
            if task is None:
                more = False
            else:
                waiting[workers.submit(encode_task(task))] = task
        finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in finished:
            task = waiting.pop(future)
            result = _result(workers.answer(future), task)
            if isinstance(result, v.Verdict):
                yield task, result
            else:
                set_aside.append(task)
    for task in set_aside:
        result = _result(workers.answer(workers.submit(encode_task(task))), task)
        yield task, result if isinstance(result, v.Verdict) else could_not_grade(task, result)


def encode_task(task: Task) -> bytes:
    """The request for a task, as a whole frame: it is encoded here and decoded by the judge."""
    return rpc.encode(messages.request_of(task.submission, task.seed))


def _unique(tasks: Iterable[Task]) -> Iterator[Task]:
    keys: set[str] = set()
    for task in tasks:
        if task.key not in keys:
            keys.add(task.key)
            yield task


def _result(answer: Answer, task: Task) -> v.Verdict | messages.Refused:
    message, body = answer
    if isinstance(message, messages.Refused):
        return message
    verdict = rpc.decode_verdict(body)
    verdict.file = task.submission.file
    return verdict


def could_not_grade(task: Task, refused: messages.Refused) -> v.Verdict:
    """The verdict on a task that nobody has judged."""
    reason: reasons.Reason
    if refused.code == messages.LOST or refused.code == messages.RESTART:
        reason = reasons.WorkersLost(refused.detail)
    else:
        reason = reasons.WorkerRefused(
            refused.code,
            refused.where,
            refused.name,
            refused.here,
            refused.expected,
            refused.detail,
        )
    kata, file = task.submission.kata, task.submission.file
    verdict = blank(kata, v.COULD_NOT_GRADE, file, reason, steps.Doctor(again=True))
    if refused.code == messages.LOST:
        verdict.audit = [v.Notice("process-lost", refused.detail)]
    return verdict
