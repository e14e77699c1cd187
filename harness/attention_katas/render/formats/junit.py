"""`--format junit`: one test suite for each kata, one test case for each check."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as xml

from attention_katas.render.formats import RunFormat
from attention_katas.verdict import data as v
from attention_katas.verdict import words

# What XML 1.0 cannot hold, and the control characters that it can.
_UNHOLDABLE = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class _Case:
    """One test case: a check, or a verdict without checks."""

    title: str
    outcome: str
    message: str
    seconds: float = 0.0


def render(
    verdicts: Sequence[v.Verdict], properties: Sequence[Mapping[str, str]] | None = None
) -> str:
    """All verdicts as one JUnit XML document; properties: more of them for each suite."""
    root = xml.Element("testsuites", name="attention-katas")
    for number, verdict in enumerate(verdicts):
        _suite(root, verdict, properties[number] if properties else {})
    xml.indent(root)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
    )


def _suite(root: xml.Element, verdict: v.Verdict, more: Mapping[str, str]) -> None:
    # A verdict without checks (broken, not started) is one case, so that it cannot go unseen.
    cases = [
        _Case(check.title, check.outcome, words.check(check), check.seconds)
        for check in verdict.checks
    ]
    cases = cases or [_Case(verdict.outcome, verdict.outcome, words.verdict(verdict))]
    suite = xml.SubElement(root, "testsuite", name=verdict.kata, time=f"{verdict.seconds:.3f}")
    properties = xml.SubElement(suite, "properties")
    facts = {"outcome": verdict.outcome, "seed": str(verdict.seed), "device": verdict.device}
    if verdict.restrictions:
        facts["restrictions"] = ", ".join(verdict.restrictions)
    causes = [cause.id for diagnosis in verdict.diagnoses for cause in diagnosis.causes]
    facts |= {"diagnosis": ", ".join(causes)} if causes else {}
    for name, value in {**facts, **more, **verdict.versions}.items():
        xml.SubElement(properties, "property", name=name, value=_text(value))
    counts = {"tests": len(cases), "failures": 0, "errors": 0, "skipped": 0}
    for case in cases:
        element = xml.SubElement(
            suite,
            "testcase",
            classname=verdict.kata,
            name=_text(case.title),
            time=f"{case.seconds:.3f}",
        )
        kind = _kind(case.outcome)
        if kind:
            counts[{"failure": "failures", "error": "errors"}.get(kind, kind)] += 1
            failure = xml.SubElement(element, kind, message=_text(case.message or case.outcome))
            if kind != "skipped":
                failure.set("type", case.outcome)
    for name, count in counts.items():
        suite.set(name, str(count))


def _kind(outcome: str) -> str:
    if outcome == v.PASSED:
        return ""
    if outcome in (v.NOT_REACHED, v.NOT_VERIFIED):
        return "skipped"
    return "error" if outcome == v.COULD_NOT_GRADE else "failure"


def _text(text: str) -> str:
    return _UNHOLDABLE.sub("?", text)


FORMAT = RunFormat("JUnit XML, for GitLab, Jenkins and others", render)
