"""A verdict in plain sentences, for formats that have a field for text."""

from __future__ import annotations

from attention_katas import verdict as v
from attention_katas.grading.formats._text import block, line
from attention_katas.grading.results import Item, Result

OURS = "could not be graded: a fault of the judge or the machine, not of the code; it costs nothing"
_MARKS = {v.PASSED: "✓", v.NOT_REACHED: "–", v.NOT_VERIFIED: "?"}


def counted(verdict: v.Verdict) -> list[v.Check]:
    """The checks that points depend on: all but those that this machine could not verify."""
    return [check for check in verdict.checks if check.outcome != v.NOT_VERIFIED]


def why(item: Item) -> str:
    """In one line why the kata did not pass, as far as feedback lets it be seen; "" if it did."""
    if item.passed:
        return ""
    if item.points is None:
        return OURS
    verdict = item.verdict
    named = [
        f"{found.function} {cause.title}" for found in verdict.diagnoses for cause in found.causes
    ]
    first = verdict.first_failure
    said = named[:1] or [first.message if first else "", verdict.message, verdict.outcome]
    return line(next(words for words in said if words))


def account(item: Item) -> str:
    """All there is to say to the student, on several lines."""
    if item.points is None:
        return line(f"{item.title} {OURS}", 1000)
    verdict = item.verdict
    lines = [f"{item.title}: {verdict.outcome}, {verdict.passed} of {verdict.total} checks passed"]
    if not verdict.checks:
        lines = [f"{item.title}: {verdict.outcome}"]
    if verdict.message and not verdict.checks:
        lines.append(block(verdict.message))
    for check in verdict.checks:
        head = f"{_MARKS.get(check.outcome, '✗')} {line(check.title)}"
        lines.append(head if check.outcome == v.PASSED else f"{head}: {line(_said(check))}")
    lines += _diagnoses(verdict)
    if verdict.next_step:
        lines.append(f"next: {line(verdict.next_step)}")
    if verdict.output.strip():
        lines += ["the end of what it printed:", block(verdict.output, 2000)]
    return "\n".join(lines)


def heading(result: Result) -> str:
    """What it comes to, in one line: of what could be graded."""
    text = f"{result.points} of {out_of(result)} points"
    missing = [item.title for item in result.items if item.points is None]
    return text + (f"; {', '.join(missing)} {OURS}" if missing else "")


def out_of(result: Result) -> int:
    """What the katas that could be graded are worth."""
    return sum(item.worth for item in result.items if item.points is not None)


def _said(check: v.Check) -> str:
    call = check.evidence.call if check.evidence else ""
    return f"{call}: {check.message}" if call and check.message else check.message or check.outcome


def _diagnoses(verdict: v.Verdict) -> list[str]:
    lines = []
    for found in verdict.diagnoses:
        if found.kind == v.EARLIER_WORK:
            lines.append(f"look at {line(found.blames)} in {line(found.file)} first")
        for cause in found.causes:
            lines.append(f"{line(found.function)} {line(cause.title)}")
            lines += [f"think: {line(cause.ask)}"] if cause.ask else []
        lines += [f"because {line(symptom)}" for symptom in found.symptoms]
    return lines
