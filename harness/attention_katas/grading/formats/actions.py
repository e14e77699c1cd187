"""The summary of a step of GitHub Actions, as Markdown.

What a student may have written stands in fences longer than any run of backticks in it; names in
tables have their signs of Markdown escaped. GitHub takes 1 MiB for each step and drops the whole
summary beyond that; others may have written to it before us, so details give way at half of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attention_katas.grading.formats import About, GradeFormat, is_too_low
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.formats._words import account, heading
from attention_katas.grading.results import Item, Result

MOST_BYTES = 512 * 1024


def render(results: Sequence[Result], about: About) -> str:
    result = results[0]
    parts = [f"## {_escaped(about.title)}: {_escaped(heading(result))}", _table(result)]
    if is_too_low(result, about.fail_under):
        parts.append(f"This is below {about.fail_under:g} %.")
    size = sum(len(part.encode("utf-8")) for part in parts)
    for number, item in enumerate(result.items):
        if item.passed:
            continue
        text = f"### {_escaped(item.title)}\n\n{fenced(account(item))}"
        size += len(text.encode("utf-8")) + 2
        if size > MOST_BYTES:
            rest = sum(not item.passed for item in result.items[number:])
            parts.append(f"There is no room for the details of {rest} more.")
            break
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def fenced(text: str) -> str:
    """Text as a block of code that nothing in it can end."""
    text = block(text, 20_000)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _table(result: Result) -> str:
    head = "| kata | points | checks passed | outcome |\n|---|---:|---:|---|"
    return "\n".join([head, *map(_row, result.items)])


def _row(item: Item) -> str:
    verdict = item.verdict
    checks = f"{verdict.passed} of {verdict.total}" if verdict.checks else "-"
    points = "-" if item.points is None else f"{item.points} of {item.worth}"
    return f"| {_escaped(item.title)} | {points} | {checks} | {item.outcome} |"


def _escaped(text: str) -> str:
    """One line that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&@$])", r"\\\1", line(text, 2000))


FORMAT = GradeFormat(
    summary="step summary of GitHub Actions",
    file="$GITHUB_STEP_SUMMARY",
    holds_class=False,
    render=render,
)
