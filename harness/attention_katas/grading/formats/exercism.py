"""`results.json` of an Exercism test runner, version 3: a test for each check, in their order.

Only the first failure is shown to students there, so the order is that of the kata. Hidden checks
have no `test_code` to show. "error" is the status where nothing ran (a syntax error, an untouched
stub) and where it could not be graded; Exercism has no points, so that nothing is lost by it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attention_katas.grading.formats import About, GradeFormat
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.formats._words import account, reason
from attention_katas.grading.results import Item, Result
from attention_katas.verdict import data as v

MOST_OUTPUT = 500
_CUT = "Output was truncated. Please limit to 500 chars\n"


def render(results: Sequence[Result], about: About) -> str:
    items = results[0].items
    silent = [item for item in items if not item.passed and not _ran(item)]
    tests = [_test(item, check, len(items)) for item in items for check in _checks(item)]
    status = "pass" if all(item.passed for item in items) else "error" if silent else "fail"
    document: dict[str, Any] = {"version": 3, "status": status, "tests": tests}
    if silent:
        document["message"] = "\n\n".join(account(item) for item in silent)
    return json.dumps(document, indent=2) + "\n"


def _ran(item: Item) -> bool:
    return bool(item.verdict.checks) and item.points is not None


def _checks(item: Item) -> list[v.Check]:
    return item.verdict.checks if _ran(item) else []


def _test(item: Item, check: v.Check, katas: int) -> dict[str, Any]:
    name = line(check.title) or check.name
    test = {"name": f"{line(item.title)}: {name}" if katas > 1 else name}
    # What could not be verified here is not held against anybody.
    passed = check.outcome in (v.PASSED, v.NOT_VERIFIED)
    test["status"] = "pass" if passed else "fail"
    if check.outcome != v.PASSED:
        test["message"] = block(reason(item.verdict, check))
    printed = block(check.output, 4 * MOST_OUTPUT)
    if len(printed) > MOST_OUTPUT:
        printed = _CUT + printed[len(_CUT) - MOST_OUTPUT :]
    if printed:
        test["output"] = printed
    return test


FORMAT = GradeFormat(
    summary="results.json of an Exercism test runner",
    file="results.json",
    holds_class=False,
    render=render,
)
