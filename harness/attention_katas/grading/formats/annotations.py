"""Commands for the log of GitHub Actions: an error for each kata that failed, and the points.

An error points at the line where an exception came from, else at the function in the student's
file. GitHub shows ten errors of a step, so there are at most ten. With --fail-under a result
that is high enough has warnings instead. A kata that could not be graded is a warning, never an
error.

Escaped as actions/toolkit does it (packages/core/src/command.ts). Whoever prints anything else in
the same step puts it through `quiet`: it may hold a line that looks like a command.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from attention_katas.grading.formats import About, GradeFormat, is_too_low
from attention_katas.grading.formats._text import line
from attention_katas.grading.formats._words import out_of, ungraded, why
from attention_katas.grading.results import Item, Result
from attention_katas.verdict import data as v

MOST_ERRORS = 10
MOST_SOURCE = 1 << 20


def render(results: Sequence[Result], about: About) -> str:
    result = results[0]
    missing = [item for item in result.items if item.points is None]
    failed = [item for item in result.items if not item.passed and item.points is not None]
    red = about.fail_under is None or is_too_low(result, about.fail_under)
    kind = "error" if red else "warning"
    home = about.environment.get("GITHUB_WORKSPACE", "")
    lines = [_failure(kind, item, home) for item in failed[:MOST_ERRORS]]
    lines += [
        command("warning", line(f"{item.title} {ungraded(item)}"), title=item.kata)
        for item in missing
    ]
    points = f"Points {result.points}/{out_of(result)}"
    lines.append(command("notice", points, title="Attention Katas"))
    return "\n".join(lines) + "\n"


def quiet(text: str) -> str:
    """Text in which the runner obeys no command, whatever it holds."""
    begin, end = fence()
    return f"{begin}{text.rstrip()}\n{end}"


def fence() -> tuple[str, str]:
    """Lines around what is printed, between which the runner obeys no command."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n", f"::{token}::\n"


def command(name: str, message: str, **properties: str) -> str:
    """A workflow command; empty properties are left out."""
    pairs = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{name}{' ' if pairs else ''}{pairs}::{_data(message)}"


def _failure(kind: str, item: Item, home: str) -> str:
    verdict = item.verdict
    file = verdict.file
    at = _raised_at(verdict) or _function_at(verdict)
    if home and os.path.isabs(file):
        file = os.path.relpath(file, home)
    title = line(f"{item.title}: {verdict.outcome}")
    return command(
        kind, why(item), file=line(file), line=str(at) if at and file else "", title=title
    )


def _raised_at(verdict: v.Verdict) -> int:
    """The last line of the kata's own file on the way to an exception, or 0."""
    first = verdict.first_failure
    raised = first.evidence.raised if first and first.evidence else verdict.raised
    name = os.path.basename(verdict.file)
    lines = [f.line for f in raised.frames if os.path.basename(f.file) == name] if raised else []
    return lines[-1] if lines else 0


def _function_at(verdict: v.Verdict) -> int:
    """The line on which the function that fails is defined, or 0."""
    functions = [diagnosis.function for diagnosis in verdict.diagnoses if diagnosis.function]
    path = Path(verdict.file)
    try:
        if not functions or not path.is_file() or path.stat().st_size > MOST_SOURCE:
            return 0
        source = path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return 0
    match = re.search(rf"^def\s+{re.escape(functions[0])}\b", source, re.MULTILINE)
    return source.count("\n", 0, match.start()) + 1 if match else 0


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = GradeFormat(
    summary="annotations of GitHub Actions, on standard output",
    file="-",
    holds_class=False,
    render=render,
)
