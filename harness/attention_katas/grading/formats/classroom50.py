"""`result.json` of Classroom 50, schema classroom50/result/v1: a test for each kata.

Written for its runner, which hands an `autograder.py` what stands in the document as environment
variables, and puts in who owns the repository itself. Its readers refuse an unknown key at the top
and keep unknown keys of a test.

Where a kata could not be graded there is no document: the runner takes a command that fails for a
fault of the machinery and records 0 of 0 points with status "error", not a grade.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import line
from attention_katas.grading.formats._words import why
from attention_katas.grading.results import Item, Result

# When the submission was made stands in its tag: "submit/2026-06-01T14-32-05Z-a1b2c3d".
_TAG = re.compile(r"submit/(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z")


def render(results: Sequence[Result], about: About) -> str:
    result = results[0]
    missing = [item.kata for item in result.items if item.points is None]
    if missing:
        raise CouldNotGrade(f"{', '.join(missing)} could not be graded", "run the workflow again")
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    tests = [_test(item) for item in result.items]
    document = {
        "schema": "classroom50/result/v1",
        **_identity(about.environment),
        "datetime": _submitted(about.environment) or now,
        "graded_at": now,
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }
    return json.dumps(document, indent=2) + "\n"


def _identity(environment: Mapping[str, str]) -> dict[str, str]:
    """What the runner says about the submission. Raises KataError for what it left out."""
    commit = environment.get("COMMIT_URL", "")
    values = {
        "classroom": environment.get("CLASSROOM", ""),
        "assignment": environment.get("ASSIGNMENT", ""),
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "owner": environment.get("OWNER") or environment.get("USERNAME", ""),
        "submission": environment.get("SUBMISSION_TAG", ""),
        "commit": commit,
        "release": environment.get("RELEASE_URL", ""),
        "review": environment.get("REVIEW_URL") or commit,
    }
    lacking = [name for name, value in values.items() if not value]
    if lacking or not values["submission"].startswith("submit/"):
        raise KataError(
            f"the runner of Classroom 50 did not say: {', '.join(lacking) or 'a submit/ tag'}",
            "write classroom50 from its autograder.py, where CLASSROOM, ASSIGNMENT, OWNER, "
            "SUBMISSION_TAG, COMMIT_URL and RELEASE_URL are set",
        )
    return values


def _submitted(environment: Mapping[str, str]) -> str:
    """When it was handed in: the same however often it is graded."""
    match = _TAG.match(environment.get("SUBMISSION_TAG", ""))
    return "{}T{}:{}:{}Z".format(*match.groups()) if match else ""


def _test(item: Item) -> dict[str, Any]:
    return {
        "test-name": line(item.title) or item.kata,
        "passed": item.passed,
        "score": item.points or 0,
        "max-score": item.worth,
        "kata": item.kata,
        "outcome": item.verdict.outcome,
        "checks-passed": item.verdict.passed,
        "checks": item.verdict.total,
        "hint": why(item),
        "seconds": round(item.verdict.seconds, 3),
    }


FORMAT = GradeFormat(
    summary="result.json of Classroom 50",
    file="result.json",
    holds_class=False,
    folder=False,  # the environment speaks of one submission
    render=render,
)
