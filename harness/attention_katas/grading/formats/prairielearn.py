"""`results.json` of an external grader of PrairieLearn: a test for each kata.

Written to /grade/results/results.json. Where a kata could not be graded the whole submission is
`"gradable": false`: PrairieLearn then takes no attempt and no points. Code that does not even
compile is graded like any other, with 0 points for that kata: the others may be right.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.formats._words import account, heading, ungraded
from attention_katas.grading.results import Item, Result

MOST_BYTES = 1_000_000


def render(results: Sequence[Result], about: About) -> str:
    result = results[0]
    for limit in (20_000, 2_000, 200):
        text = json.dumps(_document(result, limit), indent=2) + "\n"
        if len(text) < MOST_BYTES:
            break
    return text


def _document(result: Result, limit: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "gradable": result.graded,
        "message": heading(result),
        "tests": [_test(item, limit) for item in result.items],
    }
    if result.graded:
        document["score"] = result.points / result.worth if result.worth else 0.0
    else:
        document["format_errors"] = [
            f"{line(item.title)} {ungraded(item)}; submit it again"
            for item in result.items
            if item.points is None
        ]
    return document


def _test(item: Item, limit: int) -> dict[str, Any]:
    return {
        "name": line(item.title) or item.kata,
        "points": item.points or 0,
        "max_points": 0 if item.points is None else item.worth,
        "message": block(account(item), limit),
    }


FORMAT = GradeFormat(
    summary="results.json of an external grader of PrairieLearn",
    file="results.json",
    holds_class=False,
    render=render,
)
