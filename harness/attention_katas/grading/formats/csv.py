"""A table of the class, a row for each student: for a spreadsheet, or a platform without a format.

What could not be graded is a blank cell, and so is the sum over it. `outcome` is a short summary,
`remarks` has the reasons why katas did not run to their end. Cells that begin like a formula have
an apostrophe before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._sheet import cell, written
from attention_katas.grading.results import NOT_JUDGED, NOT_RUN_OUTCOMES, Result, not_run
from attention_katas.grading.words import remark
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r

# The summary of katas that were not simply graded.
_WORDS = {
    v.COULD_NOT_GRADE: "could not grade",
    v.BROKEN: "did not load:",
    v.TIMED_OUT: "timed out:",
    v.OUT_OF_MEMORY: "out of memory:",
    v.CRASHED: "crashed:",
    v.NOT_STARTED: "not started:",
    NOT_JUDGED: "not judged yet:",
}


def render(results: Sequence[Result], about: About) -> str:
    katas = list(dict.fromkeys(item.kata for result in results for item in result.items))
    head = ["student", "name", *katas, "points", "worth", "late", "outcome", "remarks"]
    return written([head, *(_row(result, katas) for result in results)])


def _row(result: Result, katas: Sequence[str]) -> list[object]:
    points = {item.kata: item.points for item in result.items}
    return [
        cell(result.student.id),
        cell(result.student.name),
        *(points.get(kata) for kata in katas),
        result.points if result.graded else None,
        result.worth,
        "late" if result.late else "",
        cell(_outcome(result)),
        cell(_remarks(result)),
    ]


def _outcome(result: Result) -> str:
    verdicts = [item.verdict for item in result.items]
    if verdicts and all(verdict.outcome == v.NOT_STARTED for verdict in verdicts):
        missing = all(isinstance(verdict.reason, r.FileMissing) for verdict in verdicts)
        return "nothing handed in" if missing else "nothing written"
    parts = []
    for outcome, words in _WORDS.items():
        names = [item.kata for item in result.items if item.outcome == outcome]
        parts += [f"{words} {', '.join(names)}"] if names else []
    return "; ".join(parts) or "graded"


def _remarks(result: Result) -> str:
    reasons = not_run(result, (*NOT_RUN_OUTCOMES, v.COULD_NOT_GRADE))
    return "; ".join([*map(remark, result.remarks), *(group.sentence for group in reasons)])


FORMAT = GradeFormat(
    summary="a table of the class, for a spreadsheet",
    file="grades.csv",
    holds_class=True,
    for_teacher=True,
    render=render,
)
