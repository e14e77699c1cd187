"""What every caller knows of judging, wherever it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.verdict import data as v


class Cancelled(Exception):
    """The verdict is not wanted any more: `cancel` was called."""


class JudgeService(Protocol):
    """Judges one submission at a time. `cancel` may be called from another thread."""

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        """The verdict; blocks until there is one.

        seed: decides all inputs; a fresh one when None.
        Raises Cancelled, or KataError if no verdict can be had here.
        """

    def cancel(self) -> None:
        """End the judging under way, if there is one: its `judge` raises Cancelled."""

    def expect(self, kata: Kata) -> None:
        """Prepare for a submission to this kata. Blocks while a judge starts."""

    def close(self) -> None:
        """End every process that was started here."""


@dataclass(frozen=True)
class Task:
    """A submission among many. Equal keys stand for equal verdicts.

    key: names everything that decides the verdict.
    submission: what is judged.
    seed: decides all inputs.
    """

    key: str
    submission: Submission
    seed: int


class ClassService(JudgeService, Protocol):
    """A service that judges many submissions side by side."""

    def judge_all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, v.Verdict]]:
        """Every task with its verdict, as they come; each key once.

        Nothing starts before there is a task. Raises CouldNotGrade when judging cannot go on.
        """


def verdict_of(
    service: JudgeService, reading: Submission | v.Verdict, seed: int | None = None
) -> v.Verdict:
    """The verdict on what `read_submission` returned: the service is asked if one is needed."""
    return service.judge(reading, seed) if isinstance(reading, Submission) else reading
