"""A verdict in plain sentences, for formats that have a field for text."""

from __future__ import annotations

from collections.abc import Iterator

from attention_katas.grading.formats._text import block, line
from attention_katas.grading.results import Item, Result, file_of
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words

OURS = "could not be graded: a fault of the judge or the machine, not of the code; it costs nothing"
WAITING = "is not judged yet: the grading was stopped before; it costs nothing"
_MARKS = {v.PASSED: "✓", v.NOT_REACHED: "–", v.NOT_VERIFIED: "?"}

# How far a line is set in, and the line.
Lines = list[tuple[int, str]]


def counted(verdict: v.Verdict) -> list[v.Check]:
    """The checks that points depend on: all but those that this machine could not verify."""
    return [check for check in verdict.checks if check.outcome != v.NOT_VERIFIED]


def why(item: Item) -> str:
    """Why the kata did not pass, in one line and as far as the feedback shows it; "" if it did."""
    if item.passed:
        return ""
    if item.points is None:
        return ungraded(item)
    verdict = item.verdict
    causes = [text for diagnosis in verdict.diagnoses for text in _named(item, diagnosis)]
    first = verdict.first_failure
    sentence = words.check(first) if first else ""
    alike = f"{line(sentence, 240)}{_more(verdict, first)}" if first and sentence else ""
    texts = [*causes[:1], alike, words.verdict(verdict), verdict.outcome]
    return line(next(text for text in texts if text))


def reason(verdict: v.Verdict, check: v.Check) -> str:
    """Why a check did not pass, in one sentence."""
    if check.outcome != v.NOT_REACHED:
        return words.check(check) or check.outcome
    if isinstance(check.reason, r.HungBefore):
        return f"not reached: {words.check(check)}"
    # Without its reason, which --feedback points takes away, the outcomes say why.
    late = any(earlier.outcome == v.TIMED_OUT for earlier in verdict.checks)
    if isinstance(check.reason, r.ValuesFirst) or (check.law and not late):
        return words.reason(r.ValuesFirst())
    return "not reached: a check before it ran out of time" if late else check.outcome


def account(item: Item) -> str:
    """All there is to say to the student, on several lines."""
    return "\n".join(text for _, text in account_lines(item))


def account_lines(item: Item, passed: bool = True) -> Lines:
    """The lines of an account. passed: also name the checks that passed."""
    if item.points is None:
        return [(0, line(f"{item.title} {ungraded(item)}", 1000))]
    verdict = item.verdict
    if not verdict.checks:
        lines = [(0, line(f"{item.title}: {verdict.outcome}"))]
        lines += [(2, text) for text in block(words.verdict(verdict)).split("\n") if text]
    else:
        count = f"{verdict.passed} of {verdict.total} checks passed"
        lines = [(0, line(f"{item.title}: {verdict.outcome}, {count}"))]
        lines += [(2, text) for check, text in _checks(verdict) if passed or _failed(check)]
    for diagnosis in verdict.diagnoses:
        lines += [(2 + indent, line(text)) for indent, text in _diagnosis(item, diagnosis)]
    if verdict.next_step:
        lines.append((2, f"next: {line(words.next_step(verdict))}"))
    if verdict.output.strip():
        lines.append((2, "the end of what it printed:"))
        lines += [(4, text) for text in block(verdict.output, 2000).split("\n")]
    return lines


def heading(result: Result) -> str:
    """What it comes to, in one line: of what could be graded."""
    text = f"{result.points} of {out_of(result)} points"
    missing: dict[str, list[str]] = {}
    for item in result.items:
        if item.points is None:
            missing.setdefault(ungraded(item), []).append(item.title)
    return "; ".join([text, *(f"{', '.join(titles)} {why}" for why, titles in missing.items())])


def ungraded(item: Item) -> str:
    """Why a kata has no points, to follow its title."""
    return WAITING if item.waiting else OURS


def out_of(result: Result) -> int:
    """What the katas that could be graded are worth."""
    return sum(item.worth for item in result.items if item.points is not None)


def _failed(check: v.Check) -> bool:
    return check.outcome not in (v.PASSED, v.NOT_VERIFIED)


def _checks(verdict: v.Verdict) -> Iterator[tuple[v.Check, str]]:
    """Each check on a line. A reason that several checks share is given with the first of them."""
    reasons = set()
    for check in verdict.checks:
        head = f"{_MARKS.get(check.outcome, '✗')} {line(check.title)}"
        if check.outcome == v.PASSED or _key(check) in reasons:
            yield check, head
            continue
        if check.reason is not None:
            reasons.add(_key(check))
        call = check.evidence.call if check.evidence else ""
        text = reason(verdict, check)
        text = f"{call}: {text}" if call and check.reason is not None else text
        yield check, f"{head}: {line(text)}{_more(verdict, check)}"


def _key(check: v.Check) -> tuple[str, r.Reason | None, str]:
    """The same for checks that failed for the same reason in the same call."""
    evidence = check.evidence or v.Evidence()
    return check.outcome, check.reason, "" if evidence.raised else evidence.call


def _more(verdict: v.Verdict, check: v.Check) -> str:
    """How many other checks have the same reason, in brackets; "" if none has."""
    rest = sum(_key(candidate) == _key(check) for candidate in verdict.checks) - 1
    if rest < 1 or check.reason is None:
        return ""
    if check.outcome in (v.NOT_REACHED, v.NOT_VERIFIED, v.NOT_WRITTEN):
        return f" ({rest} more like this)"
    raised = check.evidence and check.evidence.raised
    verb = "stop" if raised or check.outcome != v.FAILED else "fail"
    return f" ({rest} more {verb}{'s' if rest == 1 else ''} in the same way)"


def _named(item: Item, diagnosis: v.Diagnosis) -> list[str]:
    """The causes of a failure, in sentences."""
    if diagnosis.kind != v.EARLIER_WORK:
        return [f"{diagnosis.function} {words.says(cause)}" for cause in diagnosis.causes]
    return [f"{diagnosis.function} {words.headline(diagnosis, file_of(item.kata))}"]


def _diagnosis(item: Item, diagnosis: v.Diagnosis) -> Iterator[tuple[int, str]]:
    if diagnosis.kind == v.EARLIER_WORK:
        yield from ((0, text) for text in _named(item, diagnosis))
    for cause, text in zip(diagnosis.causes, _named(item, diagnosis), strict=False):
        yield 0, text
        if cause.question:
            yield 2, f"think: {cause.question}"
        if cause.level:
            yield 2, f"hint: kata hint {item.kata} --level {cause.level}"
    symptoms = map(words.symptom, diagnosis.symptoms)
    if diagnosis.causes:
        yield from ((2, f"because {symptom}") for symptom in symptoms)
    else:
        yield from ((0, f"{diagnosis.function}: {symptom}") for symptom in symptoms)
