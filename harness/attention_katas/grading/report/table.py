"""The report as a table for programs and spreadsheets: one line for each student and kata."""

from __future__ import annotations

import csv
import io

from attention_katas.grading import words
from attention_katas.grading.formats._sheet import cell
from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.not_run import sentence
from attention_katas.grading.report.rows import Row
from attention_katas.verdict import words as verdict_words

COLUMNS = (
    "student",
    "id",
    "kata",
    "outcome",
    "points",
    "worth",
    "passed",
    "checks",
    "misconceptions",
    "known",
    "stopped_at",
    "message",
    "late",
    "remarks",
    "audit",
    "alike_with",
    "points_before",
    "same_code",
    "file",
    "source",
)
# Columns that may name a student.
HIDDEN = ("id", "message", "file", "source")


def render(report: Report) -> str:
    """The table as CSV; an anonymous one has no column that may name a student."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [name for name in COLUMNS if not (report.anonymous and name in HIDDEN)]
    writer.writerow(columns)
    together = _alike(report)
    earlier = _earlier(report)
    for row in report.graded.rows:
        cells = _cells(report, row)
        cells["alike_with"] = "; ".join(together.get((row.student, row.kata), ()))
        cells["points_before"], cells["same_code"] = earlier.get((row.student, row.kata), ("", ""))
        writer.writerow([cell(cells[name]) for name in columns])
    return out.getvalue()


def _cells(report: Report, row: Row) -> dict[str, str]:
    facts = row.facts
    return {
        "student": report.names[row.student],
        "id": row.student,
        "kata": row.kata,
        "outcome": facts.counted_as,
        "points": "" if facts.points is None else str(facts.points),
        "worth": str(row.entry.worth),
        "passed": str(facts.passed),
        "checks": str(facts.total),
        "misconceptions": " ".join(misconception.id for misconception in facts.named),
        "known": words.KNOWLEDGE.get(facts.knowledge, ""),
        "stopped_at": facts.stop,
        "message": sentence(facts.reason),
        "late": "yes" if row.student in report.late else "",
        "remarks": "; ".join(report.remarks.get(row.student, ())),
        "audit": "" if report.anonymous else "; ".join(map(verdict_words.notice, facts.audit)),
        "file": row.entry.file,
        "source": row.entry.source[:16],
    }


def _alike(report: Report) -> dict[tuple[str, str], list[str]]:
    """Who else has a kata in the same form; nothing without names, as on the page."""
    names: dict[tuple[str, str], list[str]] = {}
    for group in () if report.anonymous else report.alike.groups:
        for likeness in group.katas:
            for student in group.students:
                rest = [report.names[person] for person in group.students if person != student]
                names[student, likeness.kata] = rest
    return names


def _earlier(report: Report) -> dict[tuple[str, str], tuple[str, str]]:
    """Points of the earlier grading, and whether it judged the same code."""
    difference = report.difference
    if difference is None:
        return {}
    changed = {(change.student, change.kata) for change in difference.resubmitted}
    return {
        (row.student, row.kata): (
            "" if row.facts.points is None else str(row.facts.points),
            "no" if (row.student, row.kata) in changed else "yes",
        )
        for row in difference.before.rows
    }
