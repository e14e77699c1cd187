"""What did not run to the end: of whom, in which katas, and why, in one line each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attention_katas.grading.report.rows import Row
from attention_katas.verdict import data as v

OUTCOMES = (v.BROKEN, v.CRASHED, v.TIMED_OUT, v.OUT_OF_MEMORY)
LONGEST = 200
# Most messages begin with the file of the kata; what follows is what they have in common.
FILE = re.compile(r"^[\w-]+\.py\b[:\s]*")


@dataclass(frozen=True)
class Halt:
    """Katas of one student that did not run for the same reason. every: those are all of them."""

    student: str
    katas: tuple[str, ...]
    every: bool
    outcome: str
    why: str


def of_student(mine: Sequence[Row], hide: bool) -> list[Halt]:
    """Why katas of one student did not run. hide: nothing that the code could have said."""
    together: dict[tuple[str, str], list[Row]] = {}
    for row in mine:
        if row.facts.outcome in OUTCOMES:
            why = row.facts.raised if hide else _common(one_line(row.facts.message))
            together.setdefault((row.facts.outcome, why), []).append(row)
    return [
        Halt(
            found[0].student,
            tuple(row.kata for row in found),
            len(found) == len(mine) > 1,
            outcome,
            why if hide else _told(found, why),
        )
        for (outcome, why), found in together.items()
    ]


def one_line(message: str) -> str:
    said = " ".join(message.split())
    return said if len(said) <= LONGEST else said[: LONGEST - 3] + "..."


def _common(message: str) -> str:
    return FILE.sub("", message)


def _told(found: Sequence[Row], common: str) -> str:
    """The message of one; what all say, with the file that all were taken from, if it is one."""
    messages = [one_line(row.facts.message) for row in found]
    files = {row.entry.file for row in found}
    if len(found) == 1 or messages[0] == common:
        return messages[0]
    return f"{one_line(files.pop())} {common}" if len(files) == 1 else common
