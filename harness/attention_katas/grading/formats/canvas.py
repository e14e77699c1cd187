"""A CSV for "Import grades" of Canvas: who it is, and one column of points.

With the teacher's exported gradebook its rows, ids and heading are taken over and only the cells of
this assignment are filled in. Without it `title` has to be "NAME (ID)", as in an export, for Canvas
to find the assignment; under a name alone it may offer to create a new one, so that is refused.

Canvas erases a grade where a cell is blank and there was one before (it posts the empty text, see
populateGradeDataPerSubmission in process_gradebook_upload.js). So where something could not be
graded the cell keeps what the gradebook says, or without a gradebook the row is left out; either is
told in `about.notes`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from attention_katas.errors import KataError
from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._sheet import (
    Sheet,
    absent,
    cell,
    changes,
    number,
    placed,
    read,
    written,
)
from attention_katas.grading.formats._text import line
from attention_katas.grading.results import Result, Student

_IDS = {"ID": "canvas", "SIS User ID": "sis", "SIS Login ID": "login"}
_WITH_ID = re.compile(r"(?P<title>.*\S)\s+\(\d+\)$", re.DOTALL)


def check(about: About) -> None:
    """Raises KataError where Canvas would not find the assignment."""
    gradebook = about.files.get("gradebook")
    if gradebook:
        book = read(gradebook, "gradebook")
        _assignment(book, _section(book), about.title)
    elif not _WITH_ID.match(about.title):
        raise KataError(
            f"Canvas would take {about.title!r} for a new assignment",
            "--gradebook EXPORT.csv (Export in Canvas's gradebook), or "
            f"{shlex.join(['--title', f'{about.title} (ID)'])} with the number that its address "
            "ends with",
        )


def render(results: Sequence[Result], about: About) -> str:
    gradebook = about.files.get("gradebook")
    ungraded = [line(result.student.shown) for result in results if not result.graded]
    about.notes.extend(f"{name} could not be graded: no new grade" for name in ungraded)
    if gradebook:
        return _filled(read(gradebook, "gradebook"), results, about)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", cell(about.title)]
    return written([head, *(_row(result) for result in results if result.graded)])


def _row(result: Result) -> list[object]:
    ids = [cell(result.student.ids.get(name, "")) for name in _IDS.values()]
    return [cell(result.student.shown), *ids, "", result.points]


def _filled(book: Sheet, results: Sequence[Result], about: About) -> str:
    section = _section(book)
    column = _assignment(book, section, about.title)
    _compare(book, column, results, about)
    students = placed(book, results, lambda student: _keys(book, student), "gradebook", about.notes)
    grades = []
    for at, result in students.rows.items():
        row = book.rows[at]
        row += [""] * (column + 1 - len(row))
        if result.graded:
            grades.append((_name(book, row), row[column], str(result.points)))
            row[column] = str(result.points)
    people = [_name(book, row) for at, row in enumerate(book.rows) if at not in students.claims]
    about.notes.extend(absent([name for name in people if name], "gradebook") + changes(grades))
    columns = [*range(section + 1), column]
    book.rows = [[row[i] if i < len(row) else "" for i in columns] for row in book.rows if row]
    book.head = [book.head[i] for i in columns]
    return book.text()


def _compare(book: Sheet, column: int, results: Sequence[Result], about: About) -> None:
    """Points are written as they are: say so where Canvas counts them out of another number."""
    row = next((row for row in book.rows[:3] if row and row[0].strip() == "Points Possible"), [])
    most = row[column].strip() if column < len(row) else ""
    worth = max(result.worth for result in results)
    if number(most) not in (None, worth):
        about.notes.append(
            f"the katas are worth {worth} points and {line(book.head[column])} is out of {most}: "
            f"set the points of the assignment to {worth} in Canvas"
        )


def _name(book: Sheet, row: Sequence[str]) -> str:
    """Whose row it is, as the gradebook says it; "" for the rows above the students."""
    names = [cell.strip() for cell in row[: book.head.index("ID")]]
    return ", ".join(names) if "".join(row[book.head.index("ID") :][:1]).strip() else ""


def _section(book: Sheet) -> int:
    """Where the columns about the student end. Raises KataError if this is no gradebook."""
    named = "Student" in book.head[0] and "ID" in book.head[1:2]
    named = named or book.head[:3] == ["LastName", "FirstName", "ID"]
    if not named or "Section" not in book.head:
        raise KataError(
            "the gradebook does not begin with Student, ID ... Section",
            "take the file that Export in Canvas's gradebook gives",
        )
    return book.head.index("Section")


def _assignment(book: Sheet, section: int, title: str) -> int:
    """The column of the assignment called `title`, with or without its id."""
    offered = range(section + 1, len(book.head))
    for part in (str, _bare):
        for same in (str, str.casefold):
            columns = [i for i in offered if same(part(book.head[i])) == same(title)]
            if len(columns) == 1:
                return columns[0]
    names = [name for name in book.head[section + 1 :] if _WITH_ID.match(name)]
    raise KataError(
        f"the gradebook has no one assignment called {title!r}; there are "
        f"{', '.join(names) or 'none'}",
        "say which with --title",
    )


def _bare(heading: str) -> str:
    match = _WITH_ID.match(heading)
    return match["title"] if match else heading


def _keys(book: Sheet, student: Student) -> Iterator[tuple[int, str]]:
    """Where to look for a student and for what, the surest first, as Canvas itself does."""
    for heading, name in _IDS.items():
        if heading in book.head:
            yield book.head.index(heading), student.ids.get(name, "")
    for heading in ("SIS User ID", "SIS Login ID"):
        if heading in book.head:
            if "canvas" not in student.ids:  # else it is Canvas's number, which is another one
                yield book.head.index(heading), student.id
            yield book.head.index(heading), student.ids.get("email", "")
    if book.head[0] == "Student":
        yield 0, student.name
        first, _, last = student.name.rpartition(" ")
        yield 0, f"{last}, {first}" if first else ""


FORMAT = GradeFormat(
    summary="gradebook CSV of Canvas",
    file="canvas.csv",
    holds_class=True,
    for_teacher=True,
    render=render,
    check=check,
)
