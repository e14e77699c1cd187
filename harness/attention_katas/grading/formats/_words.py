"""A verdict in plain sentences, for formats that have a field for text."""

from __future__ import annotations

from collections.abc import Iterator

from attention_katas.grading.formats._text import block, line
from attention_katas.grading.results import Item, Result
from attention_katas.verdict import data as v

OURS = "could not be graded: a fault of the judge or the machine, not of the code; it costs nothing"
_MARKS = {v.PASSED: "✓", v.NOT_REACHED: "–", v.NOT_VERIFIED: "?"}

# How far a line is set in, and the line.
Lines = list[tuple[int, str]]


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
    named = [said for found in verdict.diagnoses for said in _named(item, found)]
    first = verdict.first_failure
    alike = f"{line(first.message, 240)}{_more(verdict, first)}" if first and first.message else ""
    said = named[:1] or [alike, verdict.message, verdict.outcome]
    return line(next(words for words in said if words))


def reason(verdict: v.Verdict, check: v.Check) -> str:
    """Why a check did not pass, in one sentence."""
    if check.outcome != v.NOT_REACHED:
        return check.message or check.outcome
    if "time limit" in check.message:
        return f"not reached: {check.message}"
    late = any(other.outcome == v.TIMED_OUT for other in verdict.checks)
    if "values" in check.message or (check.law and not late):
        return "waits until the values are right"
    return "not reached: a check before it ran out of time" if late else check.outcome


def account(item: Item) -> str:
    """All there is to say to the student, on several lines."""
    return "\n".join(text for _, text in story(item))


def story(item: Item, passed: bool = True) -> Lines:
    """The lines of an account. passed: also name the checks that passed."""
    if item.points is None:
        return [(0, line(f"{item.title} {OURS}", 1000))]
    verdict = item.verdict
    if not verdict.checks:
        lines = [(0, line(f"{item.title}: {verdict.outcome}"))]
        lines += [(2, text) for text in block(verdict.message).split("\n") if text]
    else:
        count = f"{verdict.passed} of {verdict.total} checks passed"
        lines = [(0, line(f"{item.title}: {verdict.outcome}, {count}"))]
        lines += [(2, text) for check, text in _checks(verdict) if passed or _failed(check)]
    for found in verdict.diagnoses:
        lines += [(2 + indent, line(text)) for indent, text in _diagnosis(item, found)]
    if verdict.next_step:
        lines.append((2, f"next: {line(verdict.next_step)}"))
    if verdict.output.strip():
        lines.append((2, "the end of what it printed:"))
        lines += [(4, text) for text in block(verdict.output, 2000).split("\n")]
    return lines


def heading(result: Result) -> str:
    """What it comes to, in one line: of what could be graded."""
    text = f"{result.points} of {out_of(result)} points"
    missing = [item.title for item in result.items if item.points is None]
    return text + (f"; {', '.join(missing)} {OURS}" if missing else "")


def out_of(result: Result) -> int:
    """What the katas that could be graded are worth."""
    return sum(item.worth for item in result.items if item.points is not None)


def _failed(check: v.Check) -> bool:
    return check.outcome not in (v.PASSED, v.NOT_VERIFIED)


def _checks(verdict: v.Verdict) -> Iterator[tuple[v.Check, str]]:
    """Each check on a line. What several have to say is said once, with the first of them."""
    told = set()
    for check in verdict.checks:
        head = f"{_MARKS.get(check.outcome, '✗')} {line(check.title)}"
        if check.outcome == v.PASSED or _alike(check) in told:
            yield check, head
            continue
        if check.message:
            told.add(_alike(check))
        call = check.evidence.call if check.evidence else ""
        said = reason(verdict, check)
        said = f"{call}: {said}" if call and check.message else said
        yield check, f"{head}: {line(said)}{_more(verdict, check)}"


def _alike(check: v.Check) -> tuple[str, str, str]:
    """The same for checks that say the same."""
    evidence = check.evidence or v.Evidence()
    return check.outcome, check.message, "" if evidence.raised else evidence.call


def _more(verdict: v.Verdict, check: v.Check) -> str:
    """How many others say the same, in brackets; "" if none does."""
    others = sum(_alike(other) == _alike(check) for other in verdict.checks) - 1
    if others < 1 or not check.message:
        return ""
    if check.outcome in (v.NOT_REACHED, v.NOT_VERIFIED, v.NOT_WRITTEN):
        return f" ({others} more like this)"
    raised = check.evidence and check.evidence.raised
    verb = "stop" if raised or check.outcome != v.FAILED else "fail"
    return f" ({others} more {verb}{'s' if others == 1 else ''} in the same way)"


def _named(item: Item, found: v.Diagnosis) -> list[str]:
    """A diagnosis that knows the reason, in sentences."""
    if found.kind != v.EARLIER_WORK:
        return [f"{found.function} {cause.title}" for cause in found.causes]
    verb = "are" if " and " in found.blames else "is"
    if found.file == f"{item.kata.replace('-', '_')}.py":
        return [f"{found.function} is right as soon as {found.blames} {verb}: look there first"]
    blamed = f"{found.function} is not to blame, {found.blames} {verb}"
    return [f"{blamed}: look at {found.file} first"]


def _diagnosis(item: Item, found: v.Diagnosis) -> Iterator[tuple[int, str]]:
    if found.kind == v.EARLIER_WORK:
        yield from ((0, said) for said in _named(item, found))
    for cause, said in zip(found.causes, _named(item, found), strict=False):
        yield 0, said
        if cause.ask:
            yield 2, f"think: {cause.ask}"
        if cause.level:
            yield 2, f"hint: kata hint {item.kata} --level {cause.level}"
    if found.causes:
        yield from ((2, f"because {symptom}") for symptom in found.symptoms)
    else:
        yield from ((0, f"{found.function}: {symptom}") for symptom in found.symptoms)
