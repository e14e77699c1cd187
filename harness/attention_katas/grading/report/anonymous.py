"""A class without names: for showing a report to the class itself.

Free text may hold a name (of a file, of a folder, in an exception), so none of it is taken over:
only words that are ours.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable

from attention_katas.errors import KataError
from attention_katas.grading.ledger import Ledger
from attention_katas.grading.run import NOT_YET

NUMBERS = "numbers"
HIDDEN = "a fault of the grader; the report with names says which"


def numbers(ledger: Ledger, students: Iterable[str]) -> dict[str, int]:
    """A number for everybody, the same from report to report: the ledger keeps them.

    They are dealt by lot, so that their order says nothing about names.
    """
    try:
        known: dict[str, int] = dict(json.loads(ledger.remembered(NUMBERS) or "{}"))
    except (ValueError, TypeError):
        raise KataError(
            f"the numbers in {ledger.path} cannot be read", "without --anonymous"
        ) from None
    new = [student for student in students if student not in known]
    secrets.SystemRandom().shuffle(new)
    first = max(known.values(), default=0) + 1
    known |= {student: first + place for place, student in enumerate(new)}
    if new:
        ledger.remember(NUMBERS, json.dumps(known))
    return known


def reason(message: str) -> str:
    """Why something could not be graded, if that is one of our own sentences."""
    return message if message == NOT_YET else HIDDEN
