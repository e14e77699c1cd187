"""Tables as text with separators: those we write, and a teacher's own that we fill in."""

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
    """A table that came from elsewhere, and how to write it so that its owner knows it again."""

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
    """Whose row is which, by number. claimed: also the rows that several asked for."""

    rows: dict[int, Result]
    claimed: set[int]


def placed(
    sheet: Sheet,
    results: Sequence[Result],
    keys: Callable[[Student], Iterable[tuple[int, str]]],
    what: str,
    notes: list[str],
    shown: Callable[[int, str], str] = lambda column, text: text,
) -> Placed:
    """Which row is whose.

    keys: where to look for a student and for what text, the surest first; a text that stands in
    several rows finds none. shown: what of a cell is compared. Who has no row, or one with somebody
    else, goes into notes. Raises KataError when nobody has one.
    """
    seen: dict[int, dict[str, list[int]]] = {}

    def row_of(student: Student) -> int | None:
        for column, wanted in keys(student):
            if column not in seen:
                seen[column] = _rows_by_text(sheet, column, shown)
            rows = seen[column].get(_same(wanted), []) if wanted else []
            if len(rows) == 1:
                return rows[0]
        return None

    found: dict[int, list[Result]] = {}
    for result in results:
        row = row_of(result.student)
        if row is None:
            notes.append(f"{line(result.student.shown)} has no row of their own in the {what}")
        else:
            found.setdefault(row, []).append(result)
    if not found:
        raise KataError(
            f"nobody of the class was found in the {what}",
            f"see that it is the {what} of this course and assignment",
        )
    for those in found.values():
        if len(those) > 1:
            names = " and ".join(line(result.student.id) for result in those)
            notes.append(f"{names} have one row in the {what}: neither was filled in")
    only = {row: those[0] for row, those in found.items() if len(those) == 1}
    return Placed(only, set(found))


def number(text: str) -> float | None:
    """What a grade says, with either decimal sign; None if it is no number."""
    text = text.strip()
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def absent(names: Sequence[str], what: str) -> list[str]:
    """The note on who stands in a teacher's table and handed nothing in."""
    if not names:
        return []
    people, cells = ("person", "the cell") if len(names) == 1 else ("people", "their cells")
    listed = _listed(names)
    stay = "stays as it was" if len(names) == 1 else "stay as they were"
    return [f"{len(names)} {people} in the {what} handed nothing in: {listed}; {cells} {stay}"]


def changes(grades: Sequence[tuple[str, str, str]]) -> list[str]:
    """The note on grades that were there and become others: (who, before, after) of each."""
    falls, others = [], []
    for who, before, after in grades:
        old, new = number(before), number(after)
        if not before.strip(" -") or (old is not None and old == new):
            continue
        was = before.strip() if old is None else f"{old:g}"
        if old is not None and new is not None and new < old:
            falls.append(f"{line(who, 60)} {was} -> {after} (falls)")
        else:
            others.append(f"{line(who, 60)} {line(was, 20)} -> {after}")
    all_of_them = [*falls, *others]
    if not all_of_them:
        return []
    count = "1 grade changes" if len(all_of_them) == 1 else f"{len(all_of_them)} grades change"
    told = f"{count}: {_listed(all_of_them)}"
    return [f"{told}; {len(falls)} in all fall" if len(falls) > MOST_NAMES else told]


def _listed(texts: Sequence[str]) -> str:
    rest = len(texts) - MOST_NAMES
    shown = ", ".join(line(text, 120) for text in texts[:MOST_NAMES])
    return f"{shown} and {rest} more" if rest > 0 else shown


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
