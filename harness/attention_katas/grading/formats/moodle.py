"""Fills in the grading worksheet that Moodle gives out for an assignment, and changes nothing else.

Moodle takes back only its own worksheet: it reads headings in the language of the site. So the file
that was downloaded is given as `worksheet`, and its columns are told by what stands in them, as
Moodle writes them (mod/assign/gradingtable.php): the first is the participant, "Participant 123" in
some language, and the grade stands right before the greatest grade there can be, which is the same
number in every row. A heading "Grade" settles it at once.

Rows are found by the number of the participant (`ids["moodle"]`), then by the email address, in a
column that holds nothing else. Where something could not be graded the cell is blank, which Moodle
skips. Points are whole numbers, so that no decimal sign can be misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attention_katas.errors import KataError
from attention_katas.grading.formats import About
from attention_katas.grading.formats._sheet import Sheet, placed, read
from attention_katas.grading.formats._text import line
from attention_katas.grading.results import Result, Student

SUMMARY = "grading worksheet of Moodle, filled in"
FILE = "moodle.csv"
CLASS = True
TEACHER = True

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_PARTICIPANT = re.compile(r"(\d+)\s*$")


def render(results: Sequence[Result], about: About) -> str:
    given = about.given.get("worksheet")
    if given is None:
        raise KataError(
            "Moodle takes back only its own grading worksheet",
            "download it (in the assignment: Actions, Download grading worksheet) and say "
            "--worksheet FILE",
        )
    sheet = read(given, "worksheet")
    grade = _grade(sheet)
    _compare(sheet, grade, results, about)
    mails = [i for i in range(1, grade) if _holds_mail(sheet.column(i))]
    found = placed(
        sheet, results, lambda student: _keys(student, mails), "worksheet", about.notes, _shown
    )
    for number, result in found.items():
        row = sheet.rows[number]
        row += [""] * (grade + 1 - len(row))
        row[grade] = str(result.points) if result.graded else ""
        if not result.graded:
            about.notes.append(f"{line(result.student.shown)} could not be graded: no new grade")
    return sheet.text()


def _grade(sheet: Sheet) -> int:
    """Which column holds the grade. Raises KataError where that cannot be told."""
    if not all(_PARTICIPANT.search(name) for name in sheet.column(0) if name):
        raise KataError(
            "the first column of the worksheet does not hold participants with their numbers",
            "take the file that Download grading worksheet gives",
        )
    named = [i for i, heading in enumerate(sheet.head) if heading.strip() == "Grade"]
    offered = [
        i
        for i in range(1, len(sheet.head) - 1)
        if _is_maximum(sheet.column(i + 1)) and all(map(_is_grade, sheet.column(i)))
    ]
    # When all have the same grade so far, that looks like a maximum, too: the last one is it.
    offered = [i for i in offered if i + 1 not in offered]
    if len(named or offered) != 1:
        raise KataError(
            "it cannot be told which column of the worksheet holds the grade",
            "call its heading Grade, and what it was before you give the result to Moodle",
        )
    return (named or offered)[0]


def _is_maximum(cells: Sequence[str]) -> bool:
    return len(set(cells)) == 1 and bool(_NUMBER.fullmatch(cells[0])) and _value(cells[0]) > 0


def _is_grade(text: str) -> bool:
    return text in ("", "-") or bool(_NUMBER.fullmatch(text))


def _value(number: str) -> float:
    return float(number.replace(",", "."))


def _compare(sheet: Sheet, grade: int, results: Sequence[Result], about: About) -> None:
    """Points are written as they are: say so where Moodle would read them out of another number."""
    most = next(iter(sheet.column(grade + 1)), "") if grade + 1 < len(sheet.head) else ""
    worth = max(result.worth for result in results)
    if not _NUMBER.fullmatch(most):
        raise KataError(
            "the worksheet has no maximum grade right of the grade",
            "let the assignment be graded in points, not by a scale, and download it once more",
        )
    if _value(most) != worth:
        about.notes.append(
            f"the katas are worth {worth} points and the worksheet goes up to {most}: set the "
            f"maximum grade of the assignment to {worth} before you upload it"
        )


def _holds_mail(cells: Sequence[str]) -> bool:
    # Nothing else in it: else a student could write somebody's address where text may be written.
    return any(cells) and all("@" in text for text in cells if text)


def _shown(column: int, text: str) -> str:
    return _number(text) if column == 0 else text


def _number(text: str) -> str:
    found = _PARTICIPANT.search(text)
    return found[1] if found else ""


def _keys(student: Student, mails: Sequence[int]) -> Iterator[tuple[int, str]]:
    yield 0, _number(student.ids.get("moodle", ""))
    for column in mails:
        yield column, student.ids.get("email", "")
        yield column, student.id
