"""Parts of the page: everybody's points, and whose code did not run to its end."""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.not_run import Halt
from attention_katas.grading.report.pieces import (
    ROWS,
    and_more,
    many,
    name,
    p,
    section,
    table,
    text,
)
from attention_katas.grading.report.rows import Row
from attention_katas.grading.results import ABORTED
from attention_katas.verdict import data as v

NOT_STARTED = "·"


def points(report: Report) -> str:
    """Students by katas; nothing without names, since points in a row tell whose they are."""
    if report.anonymous:
        return ""
    people = report.by_student()
    shown = list(people.items())[:ROWS]
    katas = "".join(f'<th scope="col" class="n">{text(part.name)}</th>' for part in report.katas)
    worth = "".join(f'<td class="n">{part.worth}</td>' for part in report.katas)
    body = "".join(_line(report, student, mine) for student, mine in shown)
    grid = (
        f'<div class="grid" tabindex="0" role="region" aria-label="points of each student">'
        f'<table>\n<thead><tr><th scope="col">student</th><th scope="col" class="n">total</th>'
        f"{katas}</tr>\n"
        f'<tr class="worth"><th scope="row">of</th><td class="n">{report.worth}</td>{worth}</tr>'
        f"</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
    key = p(
        f"✓ passed, {NOT_STARTED} not started (or an empty file), - could not be graded, which "
        "costs nothing: the total then is at least (≥) what it says.",
        "soft",
    )
    rest = len(people) - len(shown)
    if rest:
        fold = f"the first {len(shown)} of {many(len(people), 'student')}, by name"
        grid = f"<details><summary>{fold}</summary>\n{grid}{and_more(rest)}</details>\n"
    return section("students", "Everybody's points", key, grid)


def _line(report: Report, student: str, mine: Sequence[Row]) -> str:
    late = " <small>late</small>" if student in report.late else ""
    by_kata = {row.kata: row for row in mine}
    total = sum(row.facts.points or 0 for row in mine)
    least = "≥ " if any(row.facts.points is None for row in mine) else ""
    cells = "".join(
        f'<td class="n">{_cell(by_kata[part.name]) if part.name in by_kata else ""}</td>'
        for part in report.katas
    )
    return (
        f'<tr><th scope="row">{name(report, student)}{late}</th>'
        f'<td class="n"><strong>{least}{total}</strong></td>{cells}</tr>\n'
    )


def _cell(row: Row) -> str:
    facts = row.facts
    if facts.points is None:
        return "-"
    if facts.outcome == v.PASSED:
        return f"{facts.points} <b>✓</b>"
    if facts.outcome == v.NOT_STARTED:
        return NOT_STARTED
    if facts.outcome in ABORTED:
        return f"{facts.points} <i>✗</i><small>{text(facts.outcome)}</small>"
    return f"{facts.points} <b></b>"


def halted(report: Report) -> str:
    """Whose katas did not run to their end, and why."""
    found = report.halted
    if not found:
        return ""
    people = len({one.student for one in found})
    lines = [
        [name(report, one.student), _katas(one), text(one.outcome), text(one.why or "-")]
        for one in found
    ]
    told = "Often one line, and then all of it runs: an import, a colon, a loop that never ends."
    if report.anonymous:
        told += " What Python said stands in the report with names."
    return section(
        "halted",
        f"Did not run to the end <small>{many(people, 'student')}</small>",
        p(told, "soft"),
        table(("student", "katas", "how", "why"), lines),
    )


def _katas(one: Halt) -> str:
    return f"all {len(one.katas)} katas" if one.every else text(", ".join(one.katas))
