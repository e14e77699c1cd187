"""A class without names, for showing a report to the class itself.

Names of files and folders and texts of exceptions may name a student, so the report has none.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable

from attention_katas.errors import KataError
from attention_katas.grading.ledger import Ledger

NUMBERS = "numbers"
HIDDEN = "a fault of the grader; the report with names says which"


def numbers(ledger: Ledger, students: Iterable[str]) -> dict[str, int]:
    """A number for each student, the same in every report: the ledger stores them.

    They are random, so that their order says nothing about names.
    """
    try:
        by_student: dict[str, int] = dict(json.loads(ledger.remembered(NUMBERS) or "{}"))
    except (ValueError, TypeError):
        raise KataError(
            f"the numbers in {ledger.path} cannot be read", "without --anonymous"
        ) from None
    new = [student for student in students if student not in by_student]
    secrets.SystemRandom().shuffle(new)
    first = max(by_student.values(), default=0) + 1
    by_student |= {student: first + place for place, student in enumerate(new)}
    if new:
        ledger.remember(NUMBERS, json.dumps(by_student))
    return by_student
