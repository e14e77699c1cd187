"""Feedback for one student as plain text: points, what fails, which mistake it is, what to type.

No line is wider than 80 columns. `--to text=feedback/` writes one for each student of a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import line
from attention_katas.grading.formats._words import Lines, account_lines, heading
from attention_katas.grading.results import Item, Result
from attention_katas.verdict import data as v

WIDTH = 80
SIGNATURE = "Written by kata grade."


def render(results: Sequence[Result], about: About) -> str:
    signed = [*lines(results[0], about), (0, ""), (0, SIGNATURE)]
    rows = (row for indent, text in signed for row in wrapped(text, indent))
    return "\n".join(rows) + "\n"


def lines(result: Result, about: About) -> Lines:
    """The lines of the text above its signature, not wrapped yet."""
    text: Lines = [(0, line(f"{about.title}: {heading(result)}", 1000))]
    text += [(0, line(result.student.shown)), (0, "")]
    text += [(2, _row(item)) for item in result.items]
    for item in result.items:
        if not item.passed and item.points is not None:
            text += [(0, ""), *account_lines(item, passed=False), *_hint(item)]
    return text


def wrapped(text: str, indent: int) -> Iterator[str]:
    """Rows of at most WIDTH columns; those after the first are set in a little more."""
    text = text.expandtabs(4)
    first = indent + min(len(text) - len(text.lstrip()), WIDTH // 4)
    row, begin = "", " " * first
    for word in re.findall(r"\s+|\S+", text.strip()):
        for part in chop_cells(word, WIDTH - first - 2):
            if cell_len(begin + row + part) > WIDTH:
                yield begin + row.rstrip()
                row, begin = "", " " * (first + 2)
            row += part if row or not part.isspace() else ""
    yield (begin + row).rstrip()


def _row(item: Item) -> str:
    points = "-" if item.points is None else str(item.points)
    return f"{points:>3} of {item.worth:<3}  {line(item.title)}: {item.outcome}"


def _hint(item: Item) -> Lines:
    """What to type, where no mistake with a hint of its own was named."""
    causes = (cause for diagnosis in item.verdict.diagnoses for cause in diagnosis.causes)
    if any(cause.level for cause in causes):
        return []
    if item.verdict.outcome == v.NOT_STARTED:
        return [(2, f"begin: kata show {item.kata}")]
    return [(2, f"hint: kata hint {item.kata}")] if item.verdict.checks else []


FORMAT = GradeFormat(
    summary="plain text for a student; text=FOLDER/ for a class",
    file="feedback.txt",
    holds_class=False,
    render=render,
)
