"""What several sections of the page share: words for counts and times, and small views.

A view is what a template is handed: plain values, computed, neither escaped nor laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from attention_katas.grading.ledger import Run
from attention_katas.grading.report.findings import Report

ROWS = 60  # of a table
NAMES = 40  # of a list of students
UNFOLDED_NAMES = 4  # a list of so many students needs no fold
COLUMN_HEIGHT = 4  # em, of the highest column

T = TypeVar("T")


def many(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 grade", "2 grades"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def thousands(count: int) -> str:
    """A count with separators: "12,345"."""
    return f"{count:,}"


def timestamp(run: Run) -> str:
    """When a run began, to the minute."""
    return run.at[:16].replace("T", " ") + " UTC"


@dataclass(frozen=True)
class Share:
    """A part of a whole, drawn as a bar or a segment of one.

    count: the part.
    whole: what it is a part of; may be 0.
    """

    count: int
    whole: int

    @property
    def width(self) -> str:
        """The width of the bar, as CSS has it."""
        return f"{100 * self.count / self.whole:.1f}%" if self.whole else "0%"

    @property
    def percent(self) -> str:
        """In words; "" of nothing."""
        return f"{100 * self.count / self.whole:.0f} %" if self.whole else ""


@dataclass(frozen=True)
class Column:
    """One column of a histogram.

    label: stands below it.
    count: stands above it.
    height: in em.
    """

    label: str
    count: int
    height: str


@dataclass(frozen=True)
class NameList:
    """Some students, by the names that the page shows.

    names: at most NAMES of them.
    count: how many there are.
    """

    names: tuple[str, ...]
    count: int

    @property
    def folded(self) -> bool:
        return self.count > UNFOLDED_NAMES

    @property
    def rest(self) -> int:
        """How many are not among the names."""
        return self.count - len(self.names)


@dataclass(frozen=True)
class Rows(Generic[T]):
    """The first rows of a table.

    first: at most ROWS of them.
    rest: how many stand only in the CSV beside the page.
    """

    first: Sequence[T]
    rest: int


def columns(counts: Iterable[tuple[str, int]]) -> list[Column]:
    """A histogram of counts by label."""
    pairs = list(counts)
    highest = max((count for _, count in pairs), default=0) or 1
    return [
        Column(label, count, f"{COLUMN_HEIGHT * count / highest:.2f}em") for label, count in pairs
    ]


def name_list(report: Report, students: Sequence[str]) -> NameList:
    """The names of students, of whom the ids are given."""
    return NameList(tuple(report.names[student] for student in students[:NAMES]), len(students))


def first_rows(rows: Sequence[T]) -> Rows[T]:
    """As many rows as the page shows."""
    return Rows(rows[:ROWS], max(len(rows) - ROWS, 0))
