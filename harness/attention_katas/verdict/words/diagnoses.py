"""What is behind a failure: the headline, the causes and the evidence in words."""

from __future__ import annotations

from attention_katas.verdict import data as v
from attention_katas.verdict.words.numbers import apart, index, listing
from attention_katas.verdict.words.symptoms import symptom


def headline(diagnosis: v.Diagnosis, file: str = "") -> str:
    """What a diagnosis without a cause says of its function; with a cause, "".

    file: of the kata; earlier work in another file is told apart by it.
    """
    if diagnosis.fault is not None:
        kind = f"{diagnosis.fault.type}: " if diagnosis.fault.type else ""
        return f"the diagnosis failed: {kind}{diagnosis.fault.text}"
    if diagnosis.kind == v.EARLIER_WORK:
        return _earlier(diagnosis, file)
    if diagnosis.kind == v.SYMPTOMS:
        return "I do not recognise this mistake. What I can see:"
    if diagnosis.kind == v.NO_DIAGNOSIS:
        return "also fails. I do not recognise this mistake."
    return ""


def _earlier(diagnosis: v.Diagnosis, file: str) -> str:
    names, several = listing(diagnosis.blames), len(diagnosis.blames) > 1
    if diagnosis.file != file:
        verb, they = ("are", "they are") if several else ("is", "it is")
        return f"is not at fault, {names} {verb}: once {they} right, so is this"
    return f"is right as soon as {names} {'are' if several else 'is'}: look there first"


def says(cause: v.Cause) -> str:
    """What a cause says of its function."""
    if cause.kind == v.CONVENTION:
        return f"follows another convention: it {cause.title}"
    return cause.title


def evidence(diagnosis: v.Diagnosis) -> str:
    """How many answers the causes explain, and one of them in numbers; "" without a cause."""
    if not diagnosis.causes:
        return ""
    mistake = "these mistakes give" if len(diagnosis.causes) > 1 else "this mistake gives"
    if all(cause.kind == v.CONVENTION for cause in diagnosis.causes):
        mistake = "this convention gives"
    count = diagnosis.explained
    outputs = {1: "your one output", 2: "both of your outputs"}.get(
        count, f"all {count} of your outputs"
    )
    return f"{mistake} {outputs}{_example(diagnosis)}"


def _example(diagnosis: v.Diagnosis) -> str:
    if diagnosis.at is None or diagnosis.yours is None or diagnosis.expected is None:
        return ""
    yours, expected = apart(diagnosis.yours, diagnosis.expected)
    entry = index(diagnosis.at)
    return f"; in {diagnosis.call}, entry {entry} is {yours}, expected {expected}"


def diagnosis(diagnosis: v.Diagnosis, file: str = "") -> str:
    """The diagnosis in one line, for formats that have no more room."""
    if diagnosis.causes:
        return "; ".join(says(cause) for cause in diagnosis.causes)
    parts = [headline(diagnosis, file), "; ".join(map(symptom, diagnosis.symptoms))]
    return " ".join(filter(None, parts))
