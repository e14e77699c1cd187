"""Katas that did not run to their end: of which student, and why, in one line each."""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading import words
from attention_katas.grading.report.rows import Row
from attention_katas.grading.results import Attempt, NotRun, group_attempts
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words as verdict_words

LONGEST = 200


def of_student(rows: Sequence[Row], hide: bool) -> list[NotRun]:
    """Why katas of one student did not run. hide: only classes of exceptions that Python has."""
    return group_attempts([_attempt(row, hide) for row in rows])


def _attempt(row: Row, hide: bool) -> Attempt:
    facts = row.facts
    if hide:
        return Attempt(row.kata, facts.outcome, raised=facts.raised)
    return Attempt(row.kata, facts.outcome, facts.reason, row.entry.file)


def why(group: NotRun) -> str:
    """The reason of all katas in one line; with their file, if all come from the same one."""
    if group.raised:
        return group.raised
    if len(group.katas) == 1:
        return sentence(group.reason)
    return one_line(words.reason_about(group.reason, group.file))


def sentence(reason: r.Reason | None) -> str:
    """The reason in one line that is not too long."""
    return one_line(verdict_words.reason(reason))


def one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
