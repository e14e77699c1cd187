"""Sections of the page: everybody's points, and whose code did not run to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_katas.grading.report.findings import KataPart, Report
from attention_katas.grading.report.not_run import why
from attention_katas.grading.report.pieces import Rows, first_rows
from attention_katas.grading.report.rows import Row
from attention_katas.grading.results import NOT_RUN_OUTCOMES, NotRun
from attention_katas.verdict import data as v

PASSED, FAILED, NOT_STARTED = "passed", "failed", "not started"
UNKNOWN, WAITING = "unknown", "waiting"


@dataclass(frozen=True)
class Cell:
    """The points of one student for one kata.

    points: None where it could not be graded or is not judged yet.
    kind: PASSED, FAILED, NOT_STARTED, UNKNOWN (could not be graded), WAITING (not judged yet), or
        "" for the outcomes that need no mark.
    outcome: how it did not run to its end, or "".
    """

    points: int | None
    kind: str
    outcome: str = ""


@dataclass(frozen=True)
class StudentLine:
    """All points of one student.

    total: of the katas that have points.
    complete: all have.
    cells: one for each kata of the class; None where the student has no entry.
    """

    name: str
    late: bool
    total: int
    complete: bool
    cells: list[Cell | None]


@dataclass(frozen=True)
class PointsView:
    """Students by katas. waiting: some katas are not judged yet."""

    katas: list[KataPart]
    worth: int
    students: Rows[StudentLine]
    count: int
    waiting: bool


@dataclass(frozen=True)
class NotRunLine:
    """Katas of one student that did not run for the same reason.

    every: those are all katas of this student.
    """

    name: str
    katas: tuple[str, ...]
    every: bool
    outcome: str
    reason: str


@dataclass(frozen=True)
class NotRunView:
    """What did not run to its end. students: how many it concerns."""

    lines: Rows[NotRunLine]
    students: int
    anonymous: bool


def points(report: Report) -> PointsView | None:
    """Everybody's points; None without names, since points in a row tell whose they are."""
    if report.anonymous:
        return None
    students = first_rows(list(report.by_student().items()))
    lines = [_line(report, student, rows) for student, rows in students.first]
    count = len(report.graded.people)
    rows = Rows(lines, students.rest)
    return PointsView(report.katas, report.worth, rows, count, bool(report.waiting))


def _line(report: Report, student: str, rows: Sequence[Row]) -> StudentLine:
    by_kata = {row.kata: row for row in rows}
    return StudentLine(
        name=report.names[student],
        late=student in report.late,
        total=sum(row.facts.points or 0 for row in rows),
        complete=all(row.facts.points is not None for row in rows),
        cells=[
            _cell(by_kata[part.name]) if part.name in by_kata else None for part in report.katas
        ],
    )


def _cell(row: Row) -> Cell:
    points, outcome = row.facts.points, row.facts.outcome
    if points is None:
        return Cell(None, WAITING if row.facts.waiting else UNKNOWN)
    if outcome == v.PASSED:
        return Cell(points, PASSED)
    if outcome == v.NOT_STARTED:
        return Cell(points, NOT_STARTED)
    if outcome in NOT_RUN_OUTCOMES:
        return Cell(points, FAILED, outcome)
    return Cell(points, "")


def not_run(report: Report) -> NotRunView | None:
    """Whose katas did not run to their end, and why; None if all did."""
    if not report.not_run:
        return None
    lines = [
        _not_run_line(report.names[student], group)
        for student, groups in report.not_run.items()
        for group in groups
    ]
    return NotRunView(first_rows(lines), len(report.not_run), report.anonymous)


def _not_run_line(name: str, group: NotRun) -> NotRunLine:
    return NotRunLine(name, group.katas, group.every, group.outcome, why(group))
