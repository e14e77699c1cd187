"""Sections of the page: how each kata went, what the class believes, where it is stuck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attention_katas.grading import words
from attention_katas.grading.report.findings import (
    SHARES,
    KataPart,
    MisconceptionCount,
    Report,
    ordered_by_count,
)
from attention_katas.grading.report.pieces import (
    ROWS,
    Column,
    NameList,
    Rows,
    Share,
    columns,
    first_rows,
    name_list,
)
from attention_katas.grading.report.rows import Misconception
from attention_katas.grading.results import NOT_JUDGED
from attention_katas.verdict import data as v

BARS, CHECKS = 6, 8  # misconceptions of a kata before the fold; checks that fail most
# How a segment of a bar is drawn; words stand beside it.
SEGMENTS = {
    v.PASSED: "passed",
    v.NOT_STARTED: "empty",
    v.COULD_NOT_GRADE: "unknown",
    NOT_JUDGED: "unknown",
}
# What says least stands last in the bar of a kata.
LAST = (v.NOT_STARTED, v.COULD_NOT_GRADE, NOT_JUDGED)


@dataclass(frozen=True)
class Segment:
    """Students with the same outcome. kind: how the segment is drawn, one of SEGMENTS."""

    outcome: str
    kind: str
    share: Share


@dataclass(frozen=True)
class KataView:
    """How one kata went.

    part: its name, title and points.
    segments: outcomes, passed first.
    points: students by share of the points.
    """

    part: KataPart
    segments: list[Segment]
    points: list[Column]


@dataclass(frozen=True)
class MisconceptionLine:
    """A misconception, and who of those that failed has it."""

    misconception: Misconception
    share: Share
    students: NameList


@dataclass(frozen=True)
class ApartLine:
    """Failures without a named mistake.

    knowledge: what is known of them, one of `facts.APART`.
    label: that in words.
    """

    knowledge: str
    label: str
    share: Share
    students: NameList


@dataclass(frozen=True)
class MisconceptionsView:
    """The misconceptions of one kata.

    frequent: shown at once.
    rarer: behind a fold.
    apart: failures without a named mistake.
    """

    part: KataPart
    frequent: list[MisconceptionLine]
    rarer: list[MisconceptionLine]
    apart: list[ApartLine]


@dataclass(frozen=True)
class Stop:
    """Students who are stuck at the same check."""

    check: str
    count: int
    students: NameList


@dataclass(frozen=True)
class Step:
    """Students whose first kata that is not passed is this one. stops: the largest first."""

    title: str
    share: Share
    stops: list[Stop]


@dataclass(frozen=True)
class HardCheck:
    """A check that many fail. share: of those who failed the kata."""

    title: str
    kata: str
    share: Share


@dataclass(frozen=True)
class StuckView:
    """Where students are stuck.

    complete: how many passed every kata.
    empty, empty_names: who wrote nothing.
    """

    complete: int
    empty: Share
    empty_names: NameList
    steps: list[Step]
    checks: Rows[HardCheck]


def katas(report: Report) -> list[KataView]:
    """How each kata went."""
    return [
        KataView(part, _segments(part), columns(zip(SHARES, part.shares(), strict=True)))
        for part in report.katas
    ]


def _segments(part: KataPart) -> list[Segment]:
    total = sum(part.outcomes.values())
    outcomes = [*(outcome for outcome in v.OUTCOMES if outcome not in LAST), *LAST]
    return [
        Segment(outcome, SEGMENTS.get(outcome, "failed"), Share(part.outcomes[outcome], total))
        for outcome in outcomes
        if part.outcomes[outcome]
    ]


def misconceptions(report: Report) -> list[MisconceptionsView]:
    """The misconceptions of each kata that somebody failed."""
    return [_misconceptions(report, part) for part in report.katas if part.wrong]


def _misconceptions(report: Report, part: KataPart) -> MisconceptionsView:
    lines = [_misconception(report, part, entry) for entry in part.misconceptions]
    apart = [
        ApartLine(
            knowledge,
            words.KNOWLEDGE[knowledge],
            Share(len(students), part.wrong),
            name_list(report, students),
        )
        for knowledge, students in part.apart.items()
    ]
    apart.sort(key=lambda line: (-line.share.count, line.label))
    return MisconceptionsView(part, lines[:BARS], lines[BARS:], apart)


def _misconception(report: Report, part: KataPart, entry: MisconceptionCount) -> MisconceptionLine:
    share = Share(len(entry.students), part.wrong)
    return MisconceptionLine(entry.misconception, share, name_list(report, entry.students))


def stuck(report: Report) -> StuckView:
    """The first kata that each student has not passed, and the check that fails there."""
    people = len(report.graded.people)
    steps = [
        Step(part.title, Share(part.how_many_stuck, people), _stops(report, part.stuck))
        for part in report.katas
        if part.how_many_stuck
    ]
    return StuckView(
        complete=len(report.done),
        empty=Share(len(report.nothing), people),
        empty_names=name_list(report, report.nothing),
        steps=steps,
        checks=first_rows(_hard_checks(report)),
    )


def _stops(report: Report, stuck: Mapping[str, list[str]]) -> list[Stop]:
    return [
        Stop(check, len(students), name_list(report, students))
        for check, students in ordered_by_count(stuck)[:ROWS]
    ]


def _hard_checks(report: Report) -> list[HardCheck]:
    """The checks that fail most, of all katas."""
    checks = [
        HardCheck(title, part.name, Share(count, part.wrong))
        for part in report.katas
        for title, count in part.checks.items()
    ]
    checks.sort(key=lambda check: (-check.share.count, check.kata, check.title))
    return [check for check in checks[:CHECKS] if check.share.whole]
