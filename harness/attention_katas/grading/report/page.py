"""The report as one HTML page that needs nothing else: no script, no font, no request.

Each section has a module function that computes its view and a template of its name that lays it
out. Long lists are cut: all of it stands in the table beside the page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from jinja2 import Environment

from attention_katas.grading.report import page_changes, page_course, page_flags, page_students
from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import Column, columns, many, thousands, timestamp
from attention_katas.render import templates

JUDGES = 4  # lines about versions


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading and a link to it.

    anchor: its id, and the name of its template.
    label: the text of the link.
    view: what the template is handed.
    """

    anchor: str
    label: str
    view: object


@dataclass(frozen=True)
class ClassView:
    """The class in figures.

    median: of the points; None when nobody could be graded in full.
    worth: the points of all katas.
    complete: students who passed every kata.
    empty: students who wrote nothing.
    named: failures with a known cause.
    wrong: all failures.
    deciles: students by percent of the points; none for a class of one.
    incomplete: students are not counted because a kata of theirs has no points.
    """

    median: float | None
    worth: int
    complete: int
    empty: int
    named: int
    wrong: int
    deciles: list[Column]
    incomplete: bool


def render(report: Report, beside: str = "") -> str:
    """The page. beside: the file name of the table that stands beside it."""
    template = _environment().get_template("page.html")
    return template.render(
        report=report,
        sections=[section for section in _sections(report) if section.view is not None],
        regraded=page_changes.regraded(report),
        judges=report.judged_by[:JUDGES],
        beside=beside,
    )


@functools.cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., object]] = {
        "many": many,
        "thousands": thousands,
        "timestamp": timestamp,
    }
    return templates.html(__package__, filters)


def _sections(report: Report) -> list[Section]:
    """All sections in their order; the view of one that has nothing to say is None."""
    return [
        Section("class", "The class", _class(report)),
        Section("students", "Students", page_students.points(report)),
        Section("katas", "Katas", page_course.katas(report)),
        Section("misconceptions", "Misconceptions", page_course.misconceptions(report)),
        Section("stuck", "Stuck", page_course.stuck(report)),
        Section("not_run", "Did not run", page_students.not_run(report)),
        Section("lost", "Not graded", page_flags.lost(report)),
        Section("waiting", "Not judged yet", page_flags.waiting(report)),
        Section("remarks", "Remarks", page_flags.remarks(report)),
        Section("odd", "Odd things", page_flags.audit(report)),
        Section("alike", "Alike", page_flags.alike(report)),
        Section("since", "Since the last grading", page_changes.since(report)),
    ]


def _class(report: Report) -> ClassView:
    return ClassView(
        median=report.median,
        worth=report.worth,
        complete=len(report.done),
        empty=len(report.nothing),
        named=sum(part.named for part in report.katas),
        wrong=sum(part.wrong for part in report.katas),
        deciles=columns(report.deciles()) if len(report.totals) > 1 else [],
        incomplete=bool(report.lost or report.waiting),
    )
