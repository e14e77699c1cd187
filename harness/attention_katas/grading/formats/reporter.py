"""Step outputs for classroom-resources/autograding-grading-reporter@v1, one for each kata.

That action reads `<NAME>_RESULTS` from its environment for each name in its input `runners`: base64
of a JSON object; `reporter-env` puts it there. It computes points twice, as a share of tests passed
and as the sum of their scores; both agree only where every test weighs the same. So a kata is worth
as many points here as it has checks, whatever kata.toml says; checks that could not be verified on
this machine are left out, as they are everywhere.

A kata that could not be graded has `max_score` 0: it then counts neither in the table nor in the
annotation. Its status is "error", for the job to turn red and somebody to judge again: the action
has no third colour.

The action prints names and `test_code` into the log as they are, `test_code` at the start of a
line, where a command would be obeyed. Every text is one clean line, and ours comes first in it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from attention_katas.errors import KataError
from attention_katas.grading.formats import About, GradeFormat, is_too_low
from attention_katas.grading.formats._text import line
from attention_katas.grading.formats._words import counted, ungraded, why
from attention_katas.grading.results import Item, Result
from attention_katas.verdict import data as v

# The system takes 128 KiB for one variable, and base64 makes four letters of three.
MOST_BYTES = 64_000


def render(results: Sequence[Result], about: About) -> str:
    outputs = encoded_of(results, about)
    lines = [f"{name}={text}" for name, text in outputs.items()]
    return "\n".join([*lines, f"runners={','.join(outputs)}"]) + "\n"


def encoded_of(results: Sequence[Result], about: About) -> dict[str, str]:
    """What the action reads for each kata, by the name it knows it by."""
    result = results[0]
    strict = about.fail_under is None
    red = strict or is_too_low(result, about.fail_under)
    return {item.kata.replace("-", "_"): _encoded(item, red) for item in result.items}


def _encoded(item: Item, red: bool) -> str:
    for limit in (300, 120, 40, 12):
        text = json.dumps(_document(item, red, limit), separators=(",", ":"))
        if len(text) <= MOST_BYTES:
            return base64.b64encode(text.encode("ascii")).decode("ascii")
    raise KataError(
        f"{item.kata} has {len(item.verdict.checks)} checks, more than the reporter can be handed",
        "take --to actions",
    )


def _document(item: Item, red: bool, limit: int) -> dict[str, Any]:
    if item.points is None:
        test = _test(f"{item.title} could not be graded: judge it again", "error", limit)
        test["message"] = line(f"{item.title} {ungraded(item)}", limit)
        return {"version": 1, "status": "error", "max_score": 0, "tests": [test]}
    tests = [
        _test(check.title, "pass" if check.outcome == v.PASSED else "fail", limit)
        for check in counted(item.verdict)
    ] or [_test(f"{item.title}: {item.verdict.outcome}", "pass" if item.passed else "fail", limit)]
    failed = next((test for test in tests if test["status"] == "fail"), None)
    if failed and (hint := why(item)):
        failed["test_code"] = line(f"hint: {hint}", limit)
    status = "fail" if red and not item.passed else "pass"
    return {"version": 1, "status": status, "max_score": len(tests), "tests": tests}


def _test(name: str, status: str, limit: int) -> dict[str, Any]:
    name = line(name, limit) or "check"
    return {"name": name, "status": status, "score": int(status == "pass"), "line_no": 0}


FORMAT = GradeFormat(
    summary="outputs for the autograding reporter of GitHub Classroom",
    file="$GITHUB_OUTPUT",
    holds_class=False,
    render=render,
)
