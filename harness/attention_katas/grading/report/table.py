"""The report as a table for programs and spreadsheets: one line for each student and kata."""

from __future__ import annotations

import csv
import io

from attention_katas.grading.formats._sheet import cell
from attention_katas.grading.report.findings import LATE, Report
from attention_katas.grading.report.not_run import one_line
from attention_katas.grading.report.rows import Row

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
# What may name somebody.
HIDDEN = ("id", "message", "file", "source")


def render(report: Report) -> str:
    """CSV. Without names there is nothing that could hold one."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = [one for one in COLUMNS if not (report.anonymous and one in HIDDEN)]
    writer.writerow(columns)
    together = _alike(report)
    earlier = _earlier(report)
    for row in report.graded.rows:
        told = _cells(report, row)
        told["alike_with"] = "; ".join(together.get((row.student, row.kata), ()))
        told["points_before"], told["same_code"] = earlier.get((row.student, row.kata), ("", ""))
        writer.writerow([cell(told[name]) for name in columns])
    return out.getvalue()


def _cells(report: Report, row: Row) -> dict[str, str]:
    facts = row.facts
    remarks = report.remarks.get(row.student, [])
    return {
        "student": report.names[row.student],
        "id": row.student,
        "kata": row.kata,
        "outcome": facts.outcome,
        "points": "" if facts.points is None else str(facts.points),
        "worth": str(row.entry.worth),
        "passed": str(facts.passed),
        "checks": str(facts.total),
        "misconceptions": " ".join(one.id for one in facts.named),
        "known": facts.known,
        "stopped_at": facts.stop,
        "message": one_line(facts.message),
        "late": "yes" if LATE in remarks else "",
        "remarks": "; ".join(one for one in remarks if one != LATE),
        "audit": "" if report.anonymous else "; ".join(facts.audit),
        "file": row.entry.file,
        "source": row.entry.source[:16],
    }


def _alike(report: Report) -> dict[tuple[str, str], list[str]]:
    """Who else has a kata in the same form; nothing without names, as on the page."""
    found: dict[tuple[str, str], list[str]] = {}
    for group in () if report.anonymous else report.alike.groups:
        for one in group.katas:
            for student in group.students:
                others = [report.names[other] for other in group.students if other != student]
                found[student, one.kata] = others
    return found


def _earlier(report: Report) -> dict[tuple[str, str], tuple[str, str]]:
    """Points of the earlier grading, and whether it was of the same code."""
    difference = report.difference
    if difference is None:
        return {}
    changed = {(one.student, one.kata) for one in difference.resubmitted}
    return {
        (row.student, row.kata): (
            "" if row.facts.points is None else str(row.facts.points),
            "no" if (row.student, row.kata) in changed else "yes",
        )
        for row in difference.before.rows
    }
