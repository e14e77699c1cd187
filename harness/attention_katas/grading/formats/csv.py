"""A table of the class, a row for each student: for a spreadsheet, or a platform without a format.

What could not be graded is a blank cell, and so is the sum over it. `outcome` says in a word where
to look, `remarks` why katas did not run to their end. Cells that begin like a formula have an
apostrophe before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._sheet import cell, written
from attention_katas.grading.formats._text import line
from attention_katas.grading.results import Result
from attention_katas.verdict import data as v

# What a spreadsheet is to say of katas that were not simply graded.
_WORDS = {
    v.COULD_NOT_GRADE: "could not grade",
    v.BROKEN: "did not load:",
    v.TIMED_OUT: "timed out:",
    v.OUT_OF_MEMORY: "out of memory:",
    v.CRASHED: "crashed:",
    v.NOT_STARTED: "not started:",
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
        cell("; ".join([*result.remarks, *_reasons(result)])),
    ]


def _outcome(result: Result) -> str:
    verdicts = [item.verdict for item in result.items]
    if verdicts and all(verdict.outcome == v.NOT_STARTED for verdict in verdicts):
        missing = all(verdict.message.endswith("is not there") for verdict in verdicts)
        return "nothing handed in" if missing else "nothing written"
    told = []
    for outcome, words in _WORDS.items():
        names = [verdict.kata for verdict in verdicts if verdict.outcome == outcome]
        told += [f"{words} {', '.join(names)}"] if names else []
    return "; ".join(told) or "graded"


def _reasons(result: Result) -> list[str]:
    """Why katas did not run to their end, those with the same reason together."""
    found: dict[str, list[str]] = {}
    for item in result.items:
        if item.verdict.outcome in _WORDS and item.verdict.outcome != v.NOT_STARTED:
            found.setdefault(_reason(item.verdict), []).append(item.kata)
    return [f"{_which(names, len(result.items))}: {said}" for said, names in found.items()]


def _reason(verdict: v.Verdict) -> str:
    """The same for every kata that has the same trouble: without the name of its file."""
    said = line(verdict.message)
    for name in (verdict.file, f"{verdict.kata.replace('-', '_')}.py"):
        said = said.removeprefix(f"{name} ") if name else said
    said = said.replace("does not load: ModuleNotFoundError: ", "does not load: ")
    if verdict.outcome == v.BROKEN:
        return said or "does not load"
    return f"{verdict.outcome}: {said}" if said else verdict.outcome


def _which(names: Sequence[str], everything: int) -> str:
    return f"all {everything} katas" if len(names) == everything > 1 else ", ".join(names)


FORMAT = GradeFormat(
    summary="a table of the class, for a spreadsheet",
    file="grades.csv",
    holds_class=True,
    for_teacher=True,
    render=render,
)
