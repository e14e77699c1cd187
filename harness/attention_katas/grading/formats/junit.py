"""JUnit XML: what `kata run --format junit` writes, with the points as properties of each suite.

JUnit has no points of its own. What could not be graded is an error without points.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.results import Result
from attention_katas.render.formats import junit


def render(results: Sequence[Result], about: About) -> str:
    items = results[0].items
    facts = [
        {"worth": str(item.worth)} | ({} if item.points is None else {"points": str(item.points)})
        for item in items
    ]
    return junit.render([item.verdict for item in items], facts)


FORMAT = GradeFormat(
    summary="JUnit XML, for GitLab, Jenkins and others",
    file="junit.xml",
    holds_class=False,
    render=render,
)
