"""Tables as text with separators: new ones, and a teacher's own to fill in."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attention_katas.errors import KataError
from attention_katas.grading.formats._text import line
from attention_katas.grading.results import Result, Student

# A spreadsheet would run a cell that begins so (the last four are the wide forms).
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
MOST_NAMES = 10


def cell(text: str) -> str:
    """Text for a cell that a spreadsheet shows and never calculates."""
    # Where lists are separated by semicolons, a new cell begins behind one.
    text = re.sub(r"([;\t|]\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])", r"\1'", line(text, 1000))
    return f"'{text}" if text.startswith(_FORMULA) else text


def written(rows: Iterable[Sequence[object]], separator: str = ",", end: str = "\n") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator=end).writerows(rows)
    return stream.getvalue()


@dataclass
class Sheet:
    """A teacher's table, with its separator, line end and byte order mark to write it back."""

    head: list[str]
    rows: list[list[str]]
    separator: str
    end: str
    mark: str

    def column(self, number: int) -> list[str]:
        """The cells of a column, of rows that are not blank."""
        return [row[number].strip() if number < len(row) else "" for row in self.rows if any(row)]

    def text(self) -> str:
        return self.mark + written([self.head, *self.rows], self.separator, self.end)


def read(path: Path, what: str) -> Sheet:
    """The table in a file. Raises KataError, which calls it by `what` it should have been."""
    try:
        raw = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise KataError(f"the {what} {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KataError(f"the {what} {path} is not UTF-8", "save it as CSV UTF-8") from None
    mark = "\ufeff" if raw.startswith("\ufeff") else ""
    raw = raw.removeprefix(mark)
    first = raw.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(raw, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise KataError(
            f"the {what} {path} is not a table: {error}", "download it once more"
        ) from None
    if len(rows) < 2:
        raise KataError(f"the {what} {path} has no rows", "download it once more")
    return Sheet(rows[0], rows[1:], separator, "\r\n" if first.endswith("\r") else "\n", mark)


@dataclass
class Placed:
    """Results by the number of the student's row.

    rows: those of one student each.
    claims: also the rows that several students share.
    """

    rows: dict[int, Result]
    claims: set[int]


def placed(
    sheet: Sheet,
    results: Sequence[Result],
    keys: Callable[[Student], Iterable[tuple[int, str]]],
    what: str,
    notes: list[str],
    shown: Callable[[int, str], str] = lambda column, text: text,
) -> Placed:
    """The row of each student.

    keys: columns and the text to find there, the surest first; a text in several rows is ignored.
    what: the name of the table, for messages.
    notes: gets a sentence for each student without a row, or with one that several share.
    shown: the part of a cell that is compared.
    Raises KataError when no student has a row.
    """
    columns: dict[int, dict[str, list[int]]] = {}

    def row_of(student: Student) -> int | None:
        for column, text in keys(student):
            if column not in columns:
                columns[column] = _rows_by_text(sheet, column, shown)
            rows = columns[column].get(_same(text), []) if text else []
            if len(rows) == 1:
                return rows[0]
        return None

    matches: dict[int, list[Result]] = {}
    for result in results:
        row = row_of(result.student)
        if row is None:
            notes.append(f"{line(result.student.shown)} has no row of their own in the {what}")
        else:
            matches.setdefault(row, []).append(result)
    if not matches:
        raise KataError(
            f"nobody of the class was found in the {what}",
            f"see that it is the {what} of this course and assignment",
        )
    for several in matches.values():
        if len(several) > 1:
            names = " and ".join(line(result.student.id) for result in several)
            notes.append(f"{names} have one row in the {what}: neither was filled in")
    unique = {row: results[0] for row, results in matches.items() if len(results) == 1}
    return Placed(unique, set(matches))


def number(text: str) -> float | None:
    """A grade as a number, with either decimal sign; None if it is none."""
    text = text.strip()
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def absent(names: Sequence[str], what: str) -> list[str]:
    """The note on students of a teacher's table who handed nothing in."""
    if not names:
        return []
    people, cells = ("person", "the cell") if len(names) == 1 else ("people", "their cells")
    listed = _listed(names)
    stay = "stays as it was" if len(names) == 1 else "stay as they were"
    return [f"{len(names)} {people} in the {what} handed nothing in: {listed}; {cells} {stay}"]


def changes(grades: Sequence[tuple[str, str, str]]) -> list[str]:
    """The note on grades that change: (name, before, after) of each."""
    falls, rest = [], []
    for who, before, after in grades:
        old, new = number(before), number(after)
        if not before.strip(" -") or (old is not None and old == new):
            continue
        was = before.strip() if old is None else f"{old:g}"
        if old is not None and new is not None and new < old:
            falls.append(f"{line(who, 60)} {was} -> {after} (falls)")
        else:
            rest.append(f"{line(who, 60)} {line(was, 20)} -> {after}")
    texts = [*falls, *rest]
    if not texts:
        return []
    count = "1 grade changes" if len(texts) == 1 else f"{len(texts)} grades change"
    note = f"{count}: {_listed(texts)}"
    return [f"{note}; {len(falls)} in all fall" if len(falls) > MOST_NAMES else note]


def _listed(texts: Sequence[str]) -> str:
    rest = len(texts) - MOST_NAMES
    start = ", ".join(line(text, 120) for text in texts[:MOST_NAMES])
    return f"{start} and {rest} more" if rest > 0 else start


def _rows_by_text(
    sheet: Sheet, column: int, shown: Callable[[int, str], str]
) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for number, row in enumerate(sheet.rows):
        if column < len(row):
            rows.setdefault(_same(shown(column, row[column])), []).append(number)
    return rows


def _same(text: str) -> str:
    return text.strip().casefold()
