"""`results.json` of Gradescope: a test for each kata, with partial credit.

Written by `run_autograder` to /autograder/results/results.json. What is printed meanwhile is hidden
from students, since the judge's messages may tell more than `--feedback` does.

Where a kata could not be graded there is no document. A score left out would be refused, a 0 would
be a grade; without a file Gradescope says "The autograder failed to execute correctly", the
submission has no new score, and the teacher finds the reason in the output and chooses "Rerun
Autograder". So whoever writes the file must not leave an older one in its place. The run_autograder
of `kata classroom init` puts one of its own there, which says to the student whose fault it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attention_katas.errors import CouldNotGrade
from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.formats._words import account, heading
from attention_katas.grading.results import Item, Result


def render(results: Sequence[Result], about: About) -> str:
    result = results[0]
    missing = [item.kata for item in result.items if item.points is None]
    if missing:
        raise CouldNotGrade(
            f"{', '.join(missing)} could not be graded", "choose Rerun Autograder on Gradescope"
        )
    document = {
        "score": result.points,
        "execution_time": round(sum(item.verdict.seconds for item in result.items), 3),
        "output": heading(result),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(number, item) for number, item in enumerate(result.items, 1)],
    }
    return json.dumps(document, indent=2) + "\n"


def _test(number: int, item: Item) -> dict[str, Any]:
    return {
        "name": line(item.title) or item.kata,
        "number": str(number),
        "score": item.points,
        "max_score": item.worth,
        "status": "passed" if item.passed else "failed",
        "output": block(account(item), 20_000),
        "visibility": "visible",
        "extra_data": {"kata": item.kata, "outcome": item.verdict.outcome},
    }


FORMAT = GradeFormat(
    summary="results.json of Gradescope",
    file="results.json",
    holds_class=False,
    render=render,
)
