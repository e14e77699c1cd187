"""Fills in the grading worksheet that Moodle gives out for an assignment: grades, and comments.

Moodle takes back only its own worksheet: it reads headings in the language of the site. So the file
that was downloaded is given as `worksheet`, and its columns are told by what stands in them, as
Moodle writes them (mod/assign/gradingtable.php): the first is the participant, "Participant 123" in
some language, and the grade stands right before the greatest grade there can be, which is the same
number in every row. A heading "Grade" settles it at once.

Where the worksheet has a column "Feedback comments", that of a student is what the format `text`
says, as HTML: Moodle keeps the cell as it is, of FORMAT_HTML (set_editor_text in
mod/assign/feedback/comments/locallib.php), so that line breaks are <br>. It reads the table with
PHP's fgetcsv, for which a backslash guards a quotation mark; neither stands in what we write. Our
own comment is recognised by the class of its last line, which Moodle hands out again as it took it
in. A comment of somebody else is left alone. In other languages the column cannot be told from
others.

Rows are found by the number of the participant (`ids["moodle"]`), then by the email address, in a
column that holds nothing else. Where something could not be graded the cell is blank, which Moodle
skips. Points are whole numbers, so that no decimal sign can be misread.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jinja2 import Environment

from attention_katas.errors import KataError
from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._sheet import Sheet, absent, changes, number, placed, read
from attention_katas.grading.formats._text import line
from attention_katas.grading.formats.text import SIGNATURE, lines
from attention_katas.grading.results import Result, Student, redacted
from attention_katas.render import templates

MOST_COMMENT = 20_000  # Excel holds 32,767 characters in a cell

# One paragraph that ends with our signature, whatever that says. Editors put the class in quotes.
_OURS = re.compile(
    r"""<p>(?:(?!<p\b).)*<span class=(["']?)kata-grade\1>[^<]*</span></p>""", re.DOTALL
)
_PARTICIPANT = re.compile(r"(\d+)\s*$")


@dataclass(frozen=True)
class CommentRow:
    """One line of a comment.

    indent: in columns.
    is_signature: it marks the comment as ours.
    """

    indent: int
    text: str
    is_signature: bool = False

    @property
    def size(self) -> int:
        """Characters as HTML, in which a backslash is written `&#92;`."""
        return 6 * self.indent + len(html.escape(self.text)) + 4 * self.text.count("\\")


CUT = CommentRow(0, "...")


def check(about: About) -> None:
    """Raises KataError where there is no worksheet to fill in."""
    _grade(_sheet(about))


def render(results: Sequence[Result], about: About) -> str:
    sheet = _sheet(about)
    grade = _grade(sheet)
    comments = _comments(sheet)
    _compare(sheet, grade, results, about)
    mails = [i for i in range(1, grade) if _holds_mail(sheet.column(i))]
    students = placed(
        sheet, results, lambda student: _keys(student, mails), "worksheet", about.notes, _shown
    )
    who = _named(sheet, grade, mails)
    grades, untouched = [], 0
    for at, result in students.rows.items():
        row = sheet.rows[at]
        row += [""] * (len(sheet.head) - len(row))
        if not result.graded:
            row[grade] = ""
            about.notes.append(f"{line(result.student.shown)} could not be graded: no new grade")
            continue
        grades.append((row[who], row[grade], str(result.points)))
        row[grade] = str(result.points)
        if comments and _may_write(row[comments]):
            row[comments] = _comment(result, about)
        elif comments:
            untouched += 1
    rest = [row for at, row in enumerate(sheet.rows) if any(row) and at not in students.claims]
    about.notes.extend(absent([row[who] for row in rest], "worksheet") + changes(grades))
    if untouched:
        about.notes.append(f"feedback comments that were there stay as they were: {untouched}")
    return sheet.text()


def _sheet(about: About) -> Sheet:
    worksheet = about.files.get("worksheet")
    if worksheet is None:
        raise KataError(
            "Moodle takes back only its own grading worksheet",
            "download it (in the assignment: Actions, Download grading worksheet) and say "
            "--worksheet FILE",
        )
    return read(worksheet, "worksheet")


def _comments(sheet: Sheet) -> int:
    """Which column holds feedback for students; 0 where there is none that can be told."""
    named = [i for i, heading in enumerate(sheet.head) if "Feedback comments" in heading]
    return named[0] if len(named) == 1 else 0


def _may_write(comment: str) -> bool:
    """Nobody has written there, or it was us."""
    comment = comment.strip()
    return not comment or _OURS.fullmatch(comment) is not None


def _comment(result: Result, about: About) -> str:
    """What the student is told, as HTML of at most about MOST_COMMENT characters."""
    rows: list[CommentRow] = []
    size = 0
    for indent, text in [*lines(redacted(result, about.feedback), about), (0, "")]:
        expanded = text.expandtabs(4)
        bare = expanded.lstrip()
        row = CommentRow(indent + len(expanded) - len(bare), bare)
        size += row.size
        if size <= MOST_COMMENT:
            rows.append(row)
        elif rows[-1:] != [CUT]:
            rows.append(CUT)
    rows.append(CommentRow(0, SIGNATURE, is_signature=True))
    return _environment().get_template("moodle_comment.html").render(rows=rows)


@functools.cache
def _environment() -> Environment:
    return templates.html(__package__)


def _named(sheet: Sheet, grade: int, mails: Sequence[int]) -> int:
    """The column to call people by: the one after the participant, if it is no other's name."""
    cells = sheet.column(1)
    is_name = grade > 1 and 1 not in mails and all(cells) and len(set(cells)) == len(cells)
    return 1 if is_name and len(cells) > 1 else 0


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
    return len(set(cells)) == 1 and (number(cells[0]) or 0) > 0


def _is_grade(text: str) -> bool:
    return text in ("", "-") or number(text) is not None


def _compare(sheet: Sheet, grade: int, results: Sequence[Result], about: About) -> None:
    """Points are written as they are: say so where Moodle would read them out of another number."""
    most = next(iter(sheet.column(grade + 1)), "") if grade + 1 < len(sheet.head) else ""
    worth = max(result.worth for result in results)
    if number(most) is None:
        raise KataError(
            "the worksheet has no maximum grade right of the grade",
            "let the assignment be graded in points, not by a scale, and download it once more",
        )
    if number(most) != worth:
        about.notes.append(
            f"the katas are worth {worth} points and the worksheet goes up to {most}: set the "
            f"maximum grade of the assignment to {worth} before you upload it"
        )


def _holds_mail(cells: Sequence[str]) -> bool:
    # Nothing else in it: else a student could write somebody's address where text may be written.
    return any(cells) and all("@" in text for text in cells if text)


def _shown(column: int, text: str) -> str:
    return _participant(text) if column == 0 else text


def _participant(text: str) -> str:
    match = _PARTICIPANT.search(text)
    return match[1] if match else ""


def _keys(student: Student, mails: Sequence[int]) -> Iterator[tuple[int, str]]:
    yield 0, _participant(student.ids.get("moodle", ""))
    for column in mails:
        yield column, student.ids.get("email", "")
        yield column, student.id


FORMAT = GradeFormat(
    summary="grading worksheet of Moodle, filled in",
    file="moodle.csv",
    holds_class=True,
    for_teacher=True,
    render=render,
    check=check,
)
