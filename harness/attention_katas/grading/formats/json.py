"""Everything, as JSON: for programs of your own. The schema is docs/grades.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from attention_katas.grading.formats import About
from attention_katas.grading.results import Result
from attention_katas.verdict import data as v

SUMMARY = "everything, for programs"
FILE = "-"
CLASS = True
SCHEMA = 2


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
        "remarks": msgspec.to_builtins(result.remarks),
        "graded": result.graded,
        "points": result.points,
        "worth": result.worth,
        "katas": [
            {
                "kata": item.kata,
                "points": item.points,
                "worth": item.worth,
                "verdict": {**v.to_builtins(item.verdict), "seed": None},  # it is not for students
            }
            for item in result.items
        ],
    }
