"""Every fact has a sentence, and only facts are stored."""

import importlib.util
import json
import typing
from pathlib import Path

import msgspec
import pytest

from attention_katas.sandbox import audit
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps, symptoms, words
from attention_katas.verdict.facts import Fact
from attention_katas.verdict.unjudged import Unjudged, facts
from attention_katas.verdict.words import notices

SAMPLES = {
    str: "softmax",
    int: 3,
    float: 2.5,
    bool: True,
    tuple[int, ...]: (1, 2),
    tuple[str, ...]: ("seccomp",),
    symptoms.Size: symptoms.Size(5, "T_k"),
}


def sample(kind):
    """A value of a field's type."""
    if kind in SAMPLES:
        return SAMPLES[kind]
    if isinstance(kind, type) and issubclass(kind, Fact):
        return filled(kind)
    choices = typing.get_args(kind)
    first = choices[0]
    return sample(first) if isinstance(first, type) else first


def filled(struct):
    """A fact with every field filled in."""
    return struct(*(sample(field.type) for field in msgspec.structs.fields(struct)))


def members(union):
    return typing.get_args(union)


@pytest.mark.parametrize(
    ("union", "sentences", "say"),
    [
        (reasons.Reason, words.REASONS, words.reason),
        (steps.Step, words.STEPS, words.step),
        (symptoms.Symptom, words.SYMPTOMS, words.symptom),
    ],
    ids=["reasons", "steps", "symptoms"],
)
def test_every_fact_has_a_sentence(union, sentences, say):
    assert set(members(union)) == set(sentences)
    for struct in members(union):
        sentence = say(filled(struct))
        assert len(sentence) > 5, struct
        assert sentence == " ".join(sentence.split()), struct
        assert not sentence.endswith((":", ";", ",", "(")), struct
        assert "{" not in sentence, struct
        assert "None" not in sentence.replace("returned None", ""), struct


def test_every_choice_of_a_field_has_words():
    for struct in members(reasons.Reason) + members(symptoms.Symptom):
        for field in msgspec.structs.fields(struct):
            if typing.get_origin(field.type) is not typing.Literal:
                continue
            for choice in typing.get_args(field.type):
                fact = msgspec.structs.replace(filled(struct), **{field.name: choice})
                say = words.reason if struct in words.REASONS else words.symptom
                assert say(fact), fact


def test_every_rung_has_a_sentence_of_its_own():
    rungs = typing.get_args(v.Rung)
    sentences = {words.reason(reasons.NotRight(rung)) for rung in rungs}
    assert len(sentences) == len(rungs)
    assert words.reason(reasons.NotRight("finite")).startswith("NaN or infinity stands in")


def test_no_reason_is_no_sentence():
    assert words.reason(None) == words.step(None) == ""
    assert words.verdict(v.Verdict("softmax", v.PASSED)) == ""


@pytest.mark.parametrize("kind", typing.get_args(v.DiagnosisKind))
def test_every_kind_of_diagnosis_says_something(kind):
    cause = v.Cause("no-maximum", "subtracts no maximum")
    causes = [cause] if kind in (v.MISTAKE, v.TWO_MISTAKES, v.CONVENTION) else []
    diagnosis = v.Diagnosis("softmax", kind, causes, blames=["mask"], file="mask.py", explained=27)
    assert words.diagnosis(diagnosis, "softmax.py")
    assert bool(words.evidence(diagnosis)) == bool(causes)


def test_evidence_is_a_count_and_one_entry_in_numbers():
    cause = v.Cause("no-maximum", "subtracts no maximum")
    diagnosis = v.Diagnosis("softmax", v.MISTAKE, [cause], explained=27)
    assert words.evidence(diagnosis) == "this mistake gives all 27 of your outputs"
    diagnosis.call, diagnosis.at, diagnosis.yours, diagnosis.expected = "f(x)", [0, 1], 1.0, 1.00001
    assert words.evidence(diagnosis).endswith("in f(x), entry [0, 1] is 1, expected 1.00001")
    diagnosis.explained = 1
    assert words.evidence(diagnosis).startswith("this mistake gives your one output")


def whole():
    """A verdict with every reason, step and symptom in it."""
    checks = [
        v.Check(f"c{number}", f"C{number}", v.FAILED, reason=filled(struct))
        for number, struct in enumerate(members(reasons.Reason))
    ]
    found = [filled(struct) for struct in members(symptoms.Symptom)]
    grid = v.Grid([[0.5, "nan"], ["inf", "-inf"]], [2, 2])
    checks[0].evidence = v.Evidence(
        "f(x)", ["x (2, 2)"], grid, grid, raised=v.Raised("E", "\ud800")
    )
    return v.Verdict(
        "softmax",
        v.FAILED,
        checks,
        reason=reasons.BackwardFailed(reasons.ProcessKilled("SIGSEGV")),
        next_step=steps.RunKata("mask"),
        file="\udcff.py",
        diagnoses=[v.Diagnosis("softmax", v.SYMPTOMS, symptoms=found)],
    )


def test_what_is_stored_comes_back():
    verdict = whole()
    assert v.decode(v.encode(verdict)) == verdict
    for struct in members(steps.Step):
        verdict.next_step = filled(struct)
        assert v.decode(v.encode(verdict)) == verdict


def test_what_is_stored_has_no_sentences():
    text = v.encode(whole())
    for struct in (reasons.NotTheSlopes, reasons.GradientsOff, reasons.AnswerOverwritten):
        assert words.reason(struct()) not in text


@pytest.mark.parametrize("data", [None, [], {}, {"kata": "a"}, {"kata": "a", "outcome": "good"}])
def test_what_is_no_verdict_is_refused(data):
    with pytest.raises(ValueError, match=r"(?i)expected|missing|invalid"):
        v.decode(json.dumps(data))


def test_errors_of_ours_keep_their_facts():
    error = Unjudged(reasons.MissingRestrictions(("seccomp",)), steps.AllowWeakSandbox())
    assert facts(error) == (error.reason, error.step)
    assert "seccomp" in error.message
    assert "--allow-weak-sandbox" in error.next_step


def test_the_schema_is_that_of_the_types():
    docs = Path(__file__).parents[1] / "docs"
    spec = importlib.util.spec_from_file_location("make_schema", docs / "make_schema.py")
    make_schema = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_schema)
    stored = (docs / "report.schema.json").read_text(encoding="utf-8")
    assert stored == make_schema.text(), "run python docs/make_schema.py"


def test_everything_odd_has_a_sentence():
    assert set(notices.SENTENCES) == set(typing.get_args(v.Oddity))
    assert {code for code, _ in audit.POSSIBLE} == set(notices.SENTENCES) - {"process-lost"}
    for code, detail in audit.POSSIBLE:
        assert words.notice(v.Notice(code, detail)).endswith(detail)
