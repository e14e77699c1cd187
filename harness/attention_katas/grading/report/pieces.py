"""Words and small pieces of HTML. Whatever comes from outside is written by `text`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from attention_katas.grading.ledger import Run
from attention_katas.grading.report.findings import Report
from attention_katas.render import glyphs

ROWS, NAMES, FEW = 60, 40, 4  # of a table; of a list of students; shown without unfolding


def text(said: object) -> str:
    """Anything, as text of the page: escaped, and without signs that steer."""
    return html.escape(glyphs.safe(str(said)))


def many(count: int, one: str, more: str = "") -> str:
    """ "1 grade", "2 grades"."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def when(run: Run) -> str:
    return text(run.at[:16].replace("T", " ")) + " UTC"


def section(name: str, title: str, *inside: str, kind: str = "") -> str:
    return (
        f'<section id="{name}"{_class(kind)}>\n<h2>{title}</h2>\n'
        + "".join(inside)
        + "</section>\n"
    )


def p(said: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{said}</p>\n"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "0%"


def bar(part: float, whole: float) -> str:
    return f'<span class="bar"><i style="width:{percent(part, whole)}"></i></span>'


def name(report: Report, student: str) -> str:
    return f"<bdi>{text(report.names[student])}</bdi>"


def who(report: Report, students: Sequence[str]) -> str:
    """Names: a few of them in the open, more behind a fold, never too many."""
    names = ", ".join(name(report, one) for one in students[:NAMES])
    if len(students) <= FEW:
        return f'<div class="who">{names}</div>'
    rest = f" <em>and {len(students) - NAMES:,} more</em>" if len(students) > NAMES else ""
    return (
        f'<details class="who"><summary>{many(len(students), "student")}</summary>'
        f"{names}{rest}</details>"
    )


def table(heads: Sequence[str], lines: Sequence[Sequence[str]], more: int = 0) -> str:
    """A table of cells that are HTML already; a number's column is headed by "#..."."""
    kinds = [' class="n"' if head.startswith("#") else "" for head in heads]
    top = "".join(
        f'<th scope="col"{kind}>{head.lstrip("#")}</th>'
        for head, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{kind} data-head="{head.lstrip("#")}"><div>{cell}</div></td>'
            for cell, kind, head in zip(line, kinds, heads, strict=True)
        )
        + "</tr>\n"
        for line in lines[:ROWS]
    )
    said = and_more(len(lines) + more - min(len(lines), ROWS))
    return (
        f'<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n'
        f"{body}</tbody>\n</table></div>\n{said}"
    )


def and_more(rest: int) -> str:
    """Where the rest of a list that was cut stands."""
    return p(f"and {rest:,} more, all in the table beside this page", "more") if rest else ""


def columns(counts: Iterable[tuple[str, int]], label: str) -> str:
    """A small histogram: columns, each with its number above and its label below."""
    found = list(counts)
    most = max((count for _, count in found), default=0) or 1
    columns = "".join(
        f"<li><b>{count if count else '·'}</b>"
        f'<i style="height:{4 * count / most:.2f}em"></i><span>{text(name)}</span></li>'
        for name, count in found
    )
    return f'<ol class="columns" aria-label="{text(label)}">{columns}</ol>\n'
