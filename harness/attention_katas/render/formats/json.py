"""`--format json`: the facts of every verdict, and their sentences. See docs/json.md."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from attention_katas.render.formats import RunFormat
from attention_katas.verdict import data as v
from attention_katas.verdict import words


class Check(v.Check):
    """A check, and why it did not pass in a sentence."""

    message: str = ""


class Diagnosis(v.Diagnosis):
    """A diagnosis, and its sentences.

    message: what it says of the function.
    evidence: how many answers the causes explain.
    symptom_messages: a sentence for each symptom.
    """

    message: str = ""
    evidence: str = ""
    symptom_messages: list[str] = msgspec.field(default_factory=list)


class Verdict(v.Verdict):
    """A verdict, its counts and its sentences.

    passed, total: counts of the checks.
    message: why it is not a pass.
    advice: what to do now.
    """

    checks: list[Check] = msgspec.field(default_factory=list)  # type: ignore[assignment]
    diagnoses: list[Diagnosis] = msgspec.field(default_factory=list)  # type: ignore[assignment]
    passed: int = 0
    total: int = 0
    message: str = ""
    advice: str = ""


class Document(msgspec.Struct, omit_defaults=True, tag_field="schema", tag=v.SCHEMA_VERSION):
    """What `kata run --format json` prints.

    date: in a certificate, the day on which it was written.
    """

    exit_code: Literal[0, 1, 3]
    verdicts: list[Verdict]
    date: datetime.date | None = None


def render(verdicts: Sequence[v.Verdict], on: datetime.date | None = None) -> str:
    """All verdicts as one JSON document; `on` is the day of a certificate."""
    document = Document(v.exit_code(verdicts), [spoken(verdict) for verdict in verdicts], on)
    return json.dumps(msgspec.to_builtins(document), indent=2)


def spoken(verdict: v.Verdict) -> Verdict:
    """The verdict with its sentences."""
    return Verdict(
        **{
            **_fields(verdict),
            "checks": [
                Check(**_fields(check), message=words.check(check)) for check in verdict.checks
            ],
            "diagnoses": [_diagnosis(each, verdict.own_file) for each in verdict.diagnoses],
        },
        passed=verdict.passed,
        total=verdict.total,
        message=words.verdict(verdict),
        advice=words.next_step(verdict),
    )


def _diagnosis(diagnosis: v.Diagnosis, file: str) -> Diagnosis:
    return Diagnosis(
        **_fields(diagnosis),
        message=words.diagnosis(diagnosis, file),
        evidence=words.evidence(diagnosis),
        symptom_messages=[words.symptom(symptom) for symptom in diagnosis.symptoms],
    )


def _fields(struct: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


FORMAT = RunFormat("the verdicts as JSON, for programs", lambda verdicts: render(verdicts) + "\n")
