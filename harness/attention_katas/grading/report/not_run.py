"""Katas that did not run to their end: of which student, and why, in one line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_katas.grading import words
from attention_katas.grading.report.rows import Row
from attention_katas.grading.results import ABORTED
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words as verdict_words

LONGEST = 200


@dataclass(frozen=True)
class Halt:
    """Katas of one student that did not run for the same reason.

    every: these are all katas of the student.
    why: the reason in one line.
    """

    student: str
    katas: tuple[str, ...]
    every: bool
    outcome: str
    why: str


def of_student(rows: Sequence[Row], hide: bool) -> list[Halt]:
    """Why katas of one student did not run. hide: only classes of exceptions that Python has."""
    groups: dict[tuple[str, str | r.Reason | None], list[Row]] = {}
    for row in rows:
        if row.facts.outcome in ABORTED:
            key = row.facts.raised if hide else words.without_file(row.facts.reason)
            groups.setdefault((row.facts.outcome, key), []).append(row)
    return [
        Halt(
            group[0].student,
            tuple(row.kata for row in group),
            len(group) == len(rows) > 1,
            outcome,
            group[0].facts.raised if hide else _sentence(group),
        )
        for (outcome, _), group in groups.items()
    ]


def sentence(reason: r.Reason | None) -> str:
    """The reason in one line that is not too long."""
    return one_line(verdict_words.reason(reason))


def one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _sentence(group: Sequence[Row]) -> str:
    """The reason of all rows, with the file if all come from the same one."""
    reason = group[0].facts.reason
    if len(group) == 1 or not hasattr(reason, "file"):
        return sentence(reason)
    files = {row.entry.file for row in group}
    prefix = f"{files.pop()} " if len(files) == 1 else ""
    return one_line(prefix + words.reason_without_file(reason))
