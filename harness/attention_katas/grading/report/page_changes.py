"""Sections of the page: what changed since an earlier grading; loud is what should not have."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from dataclasses import dataclass

from attention_katas.grading import words
from attention_katas.grading.ledger import Run
from attention_katas.grading.report.findings import Report
from attention_katas.grading.report.pieces import NameList, Rows, first_rows, name_list
from attention_katas.grading.report.regrade import Change, Difference

KINDS = 8  # of what changes have in common


@dataclass(frozen=True)
class ChangeLine:
    """A grade of one student that changed. reasons: what else differs."""

    name: str
    change: Change
    reasons: list[str]


@dataclass(frozen=True)
class Kind:
    """Changes of one kata for the same reasons."""

    kata: str
    reasons: list[str]
    count: int


@dataclass(frozen=True)
class RegradedView:
    """Grades that changed though the code did not.

    earlier: the run that is compared with.
    same: how many did not change.
    lower, higher: how many changed, and in which direction.
    kinds: what they have in common, the most frequent first.
    """

    earlier: Run
    same: int
    students: int
    lower: int
    higher: int
    kinds: list[Kind]
    lines: Rows[ChangeLine]


@dataclass(frozen=True)
class SinceView:
    """Changes that are as they should be.

    earlier: the run that is compared with.
    origin: where that one took its submissions from, if it is another place and may be shown.
    revalued_katas: katas with points that moved only because they are worth other points.
    moved: other points for other code.
    """

    difference: Difference
    earlier: Run
    origin: str
    revalued_katas: list[str]
    moved: Rows[ChangeLine]
    newcomers: NameList
    missing: NameList


def regraded(report: Report) -> RegradedView | None:
    """Grades that changed though the code did not; None if there is nothing to compare with."""
    difference = report.difference
    if difference is None:
        return None
    changes = difference.same_code
    lower = sum(change.less for change in changes)
    return RegradedView(
        earlier=difference.before.run,
        same=difference.same,
        students=len({change.student for change in changes}),
        lower=lower,
        higher=len(changes) - lower,
        kinds=_kinds(changes),
        lines=_lines(report, changes),
    )


def _kinds(changes: Sequence[Change]) -> list[Kind]:
    counts = collections.Counter((change.kata, change.why) for change in changes)
    return [
        Kind(kata, words.explanations(why), count)
        for (kata, why), count in counts.most_common(KINDS)
    ]


def _lines(report: Report, changes: Sequence[Change]) -> Rows[ChangeLine]:
    return first_rows(
        [
            ChangeLine(report.names[change.student], change, words.explanations(change.why))
            for change in changes
        ]
    )


def since(report: Report) -> SinceView | None:
    """What else is new; None if there is nothing to compare with."""
    difference = report.difference
    if difference is None:
        return None
    earlier = difference.before.run
    moved = [change for change in difference.resubmitted if change.before != change.now]
    moved.sort(key=lambda change: (not change.less, (change.now or 0) - (change.before or 0)))
    elsewhere = not report.anonymous and earlier.origin != report.run.origin
    return SinceView(
        difference=difference,
        earlier=earlier,
        origin=earlier.origin if elsewhere else "",
        revalued_katas=sorted({change.kata for change in difference.revalued}),
        moved=_lines(report, moved),
        newcomers=name_list(report, difference.newcomers),
        missing=name_list(report, difference.missing),
    )
