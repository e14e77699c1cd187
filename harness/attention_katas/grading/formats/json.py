"""Everything, as JSON: for programs of your own. The schema stands in docs/grades.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.results import Result

SCHEMA = 1


def render(results: Sequence[Result], about: About) -> str:
    document = {
        "schema": SCHEMA,
        "title": about.title,
        "feedback": about.feedback,
        "results": [_one(result) for result in results],
    }
    return json.dumps(document, indent=2) + "\n"


def _one(result: Result) -> dict[str, Any]:
    return {
        "student": result.student.id,
        "name": result.student.name,
        "ids": dict(result.student.ids),
        "late": result.late,
        "remarks": result.remarks,
        "graded": result.graded,
        "points": result.points,
        "worth": result.worth,
        "katas": [
            {
                "kata": item.kata,
                "points": item.points,
                "worth": item.worth,
                "verdict": {**item.verdict.to_dict(), "seed": None},  # it is not for students
            }
            for item in result.items
        ],
    }


FORMAT = GradeFormat(
    summary="everything, for programs",
    file="-",
    holds_class=True,
    render=render,
)
