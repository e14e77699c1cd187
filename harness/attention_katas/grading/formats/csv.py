"""A table of the class, a row for each student: for a spreadsheet, or a platform without a format.

What could not be graded is a blank cell, and so is the sum over it. Cells that begin like a formula
have an apostrophe before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.formats import About
from attention_katas.grading.formats._sheet import cell, written
from attention_katas.grading.results import Result

SUMMARY = "a table of the class, for a spreadsheet"
FILE = "grades.csv"
CLASS = True
TEACHER = True


def render(results: Sequence[Result], about: About) -> str:
    katas = list(dict.fromkeys(item.kata for result in results for item in result.items))
    head = ["student", "name", *katas, "points", "worth", "late", "outcome", "remarks"]
    return written([head, *(_row(result, katas) for result in results)])


def _row(result: Result, katas: Sequence[str]) -> list[object]:
    points = {item.kata: item.points for item in result.items}
    missing = [item.kata for item in result.items if item.points is None]
    return [
        cell(result.student.id),
        cell(result.student.name),
        *(points.get(kata) for kata in katas),
        result.points if result.graded else None,
        result.worth,
        "late" if result.late else "",
        f"could not grade {', '.join(missing)}" if missing else "graded",
        cell("; ".join(result.remarks)),
    ]
