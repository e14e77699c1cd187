"""The results of grading: plain data for the formats, the screen and the report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attention_katas.grading import words
from attention_katas.grading.remarks import Remark
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict.redact import redact

# Counted beside the outcomes of verdicts.
NOT_JUDGED = "not judged yet"


def is_waiting(reason: r.Reason | None) -> bool:
    """Whether a verdict with this reason stands for one that is still to come."""
    return isinstance(reason, r.NotJudgedYet)


@dataclass(frozen=True)
class Student:
    """Who handed in a submission.

    id: unique in the class and the same in every run: a folder's name, or the platform's id.
    name: for people to read, where the platform says it.
    ids: other ids by name: "canvas" (user id), "moodle" (participant number), "login", "email".
    """

    id: str
    name: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return self.name or self.id


@dataclass
class Item:
    """One kata of one student, judged.

    worth: the most points there are.
    points: None when it could not be graded; then it counts neither for nor against.
    """

    kata: str
    title: str
    worth: int
    points: int | None
    verdict: v.Verdict

    @property
    def passed(self) -> bool:
        return self.verdict.outcome == v.PASSED

    @property
    def waiting(self) -> bool:
        """The grading was stopped before it was judged."""
        return is_waiting(self.verdict.reason)

    @property
    def outcome(self) -> str:
        """The outcome of the verdict, or NOT_JUDGED."""
        return NOT_JUDGED if self.waiting else self.verdict.outcome


@dataclass
class Result:
    """All katas of one student.

    late: the platform says so.
    remarks: for the teacher.
    """

    student: Student
    items: list[Item]
    late: bool = False
    remarks: list[Remark] = field(default_factory=list)

    @property
    def graded(self) -> bool:
        """Everything could be graded."""
        return all(item.points is not None for item in self.items)

    @property
    def points(self) -> int:
        """Points so far; what could not be graded adds nothing."""
        return sum(item.points or 0 for item in self.items)

    @property
    def worth(self) -> int:
        return sum(item.worth for item in self.items)


@dataclass(frozen=True)
class Attempt:
    """One kata of a student: how it ended, and why.

    reason: None where none is known, or it is not to be shown.
    file: what was graded.
    raised: the class of an exception that stands for the reason, or "".
    """

    kata: str
    outcome: v.Outcome
    reason: r.Reason | None = None
    file: str = ""
    raised: str = ""


@dataclass(frozen=True)
class NotRun:
    """Katas of one student that did not run to their end, for the same reason.

    reason: of the first of them; those of the others may differ in the file that they are about.
    every: these are all katas of the student.
    file: what was graded, if it is the same for all of them; else "".
    raised: the class of an exception that stands for the reason, or "".
    """

    katas: tuple[str, ...]
    outcome: v.Outcome
    reason: r.Reason | None
    every: bool
    file: str = ""
    raised: str = ""

    @property
    def sentence(self) -> str:
        return words.not_run(self.katas, self.every, self.outcome, self.reason)


# A verdict of these outcomes has no values to compare, or not all of them.
NOT_RUN_OUTCOMES: tuple[v.Outcome, ...] = (v.BROKEN, v.CRASHED, v.TIMED_OUT, v.OUT_OF_MEMORY)


def cause(verdict: v.Verdict) -> r.Reason | None:
    """Why it is not a pass: of the checks, the first that ended as the whole verdict did."""
    checks = (c.reason for c in verdict.checks if c.outcome == verdict.outcome != v.PASSED)
    return next((reason for reason in checks if reason is not None), verdict.reason)


def not_run(result: Result, outcomes: Collection[v.Outcome] = NOT_RUN_OUTCOMES) -> list[NotRun]:
    """Katas of a student with one of these outcomes, those with the same reason together."""
    attempts = [
        Attempt(item.kata, item.verdict.outcome, cause(item.verdict), item.verdict.file)
        for item in result.items
    ]
    return group_attempts(attempts, outcomes)


def group_attempts(
    attempts: Sequence[Attempt], outcomes: Collection[v.Outcome] = NOT_RUN_OUTCOMES
) -> list[NotRun]:
    """Of all attempts of a student those with one of these outcomes, by their reason."""
    groups: dict[tuple[v.Outcome, r.Reason | None, str], list[Attempt]] = {}
    for attempt in attempts:
        if attempt.outcome in outcomes:
            key = attempt.outcome, words.without_file(attempt.reason), attempt.raised
            groups.setdefault(key, []).append(attempt)
    return [_together(group, len(attempts)) for group in groups.values()]


def _together(group: Sequence[Attempt], total: int) -> NotRun:
    first = group[0]
    return NotRun(
        katas=tuple(attempt.kata for attempt in group),
        outcome=first.outcome,
        reason=first.reason,
        every=len(group) == total > 1,
        file=first.file if len({attempt.file for attempt in group}) == 1 else "",
        raised=first.raised,
    )


def points_for(verdict: v.Verdict, worth: int) -> int | None:
    """Points of a verdict: the floor of `worth` times the share of checks that passed.

    None if it could not be graded. Only a pass earns all points. A check that this machine cannot
    verify does not count. A law counts once the values are right; until then it is "not reached".
    """
    if verdict.outcome == v.COULD_NOT_GRADE:
        return None
    if verdict.outcome == v.PASSED:
        return worth
    counted = [check for check in verdict.checks if check.outcome != v.NOT_VERIFIED]
    if not counted:
        return 0
    passed = sum(check.outcome == v.PASSED for check in counted)
    return min(worth * passed // len(counted), max(worth - 1, 0))


def file_of(kata: str) -> str:
    """The file that a kata asks for, as `Kata.file`: a result holds the kata by its name only."""
    return f"{kata.replace('-', '_')}.py"


def redacted(result: Result, level: str) -> Result:
    """The result with what the level of feedback lets the student see of its verdicts."""
    files = [file_of(item.kata) for item in result.items]
    items = [
        # What is not judged yet holds nothing to hide, and says so by its reason.
        item if item.waiting else replace(item, verdict=redact(item.verdict, level, files))
        for item in result.items
    ]
    return replace(result, items=items)
