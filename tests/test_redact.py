"""What a student sees of a verdict: a rule for every fact, and nothing that code could fill in."""

from __future__ import annotations

import typing

import msgspec
import pytest

from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import symptoms as s
from attention_katas.verdict.facts import Fact
from attention_katas.verdict.redact import FULL, LEVELS, NAMED, POINTS, redact

REASONS = typing.get_args(r.Reason)
SYMPTOMS = typing.get_args(s.Symptom)

# A number or a word that only the submission, an input or an answer can have brought in.
NUMBER, WORD = 47114711, "Secret4711"
SECRETS = {
    str: WORD,
    int: NUMBER,
    float: NUMBER + 0.5,
    bool: True,
    tuple[int, ...]: (NUMBER, NUMBER),
    tuple[str, ...]: (WORD,),
    s.Size: s.Size(NUMBER, WORD),
}

# Fields that no submission fills in: limits, words of the kata, its functions and its arguments.
OURS = {
    (r.TimedOut, "seconds"),
    (r.KataTimedOut, "seconds"),
    (r.MemoryExceeded, "megabytes"),
    (r.TooManyThreads, "threads"),
    (r.TooMuchOutput, "mebibytes"),
    (r.NoGradient, "input"),
    (r.GradientShape, "input"),
    (r.GradientDiffers, "input"),
    (r.InputChanged, "input"),
    (r.WrongException, "expected"),
    (r.NoException, "expected"),
    (r.NotRight, "rung"),
    (r.NotWritten, "function"),
    (r.HungBefore, "function"),
    (s.AlsoWrong, "functions"),
    (s.Measured, "id"),
    (s.Measured, "text"),
}
FACTS = [*REASONS, *SYMPTOMS]
FIELDS = [(struct, field) for struct in FACTS for field in msgspec.structs.fields(struct)]


def secret(kind):
    """A value of a field's type that nothing but the submission could have brought in."""
    if kind in SECRETS:
        return SECRETS[kind]
    if isinstance(kind, type) and issubclass(kind, Fact):
        return filled(kind)
    if kind is r.Reason or r.Reason in typing.get_args(kind):
        return r.CannotBeCalled(WORD)
    first = typing.get_args(kind)[0]
    return secret(first) if isinstance(first, type) else first


def filled(struct):
    return struct(*(secret(field.type) for field in msgspec.structs.fields(struct)))


def with_ours(struct):
    """A fact with secrets in all fields but ours."""
    fact = filled(struct)
    ours = {
        field.name: empty(getattr(fact, field.name))
        for field in msgspec.structs.fields(struct)
        if (struct, field.name) in OURS
    }
    return msgspec.structs.replace(fact, **ours)


def empty(value):
    return type(value)()


def failed(reason, rung="values"):
    return v.Check("test_a", "A", v.FAILED, rung=rung, reason=reason)


def verdict(reason=None, symptom=None):
    """A failed verdict with a fact wherever one can stand."""
    symptoms = [symptom] if symptom is not None else []
    return v.Verdict(
        "softmax",
        v.FAILED,
        [failed(reason)] if reason is not None else [],
        reason=reason,
        diagnoses=[v.Diagnosis("softmax", v.SYMPTOMS, symptoms=symptoms)],
    )


def holds_secret(verdict):
    text = v.encode(verdict)
    return WORD in text or str(NUMBER) in text


@pytest.mark.parametrize("struct", REASONS, ids=lambda struct: struct.__name__)
def test_named_feedback_has_nothing_that_a_submission_fills_in(struct):
    fact = with_ours(struct)
    assert not holds_secret(redact(verdict(fact), NAMED))
    assert not holds_secret(redact(verdict(r.BackwardFailed(fact)), NAMED))


@pytest.mark.parametrize("struct", SYMPTOMS, ids=lambda struct: struct.__name__)
def test_named_feedback_has_no_symptom_with_values(struct):
    assert not holds_secret(redact(verdict(symptom=with_ours(struct)), NAMED))


@pytest.mark.parametrize("struct", FACTS, ids=lambda struct: struct.__name__)
def test_points_are_nothing_but_points(struct):
    """Every verdict with the same outcomes looks the same."""
    fact = filled(struct)
    full = verdict(fact) if struct in REASONS else verdict(r.ReturnedNone(), fact)
    plain = v.Verdict("softmax", v.FAILED, [v.Check("check-1", "Check 1", v.FAILED)])
    assert redact(full, POINTS) == plain


def test_the_list_of_our_fields_is_of_fields_that_are_shown():
    assert {(struct, field.name) for struct, field in FIELDS} >= OURS
    for struct, name in OURS - {(s.Measured, "id"), (s.Measured, "text")}:
        fact = filled(struct)
        full = verdict(fact) if struct in REASONS else verdict(symptom=fact)
        assert holds_secret(redact(full, NAMED)), f"{struct.__name__}.{name} is withheld"


def test_a_measured_symptom_is_shown_unless_it_holds_values():
    for values in (True, False):
        shown = redact(
            verdict(symptom=s.Measured("sums", "its rows do not sum to 1", values)), NAMED
        )
        assert bool(shown.diagnoses[0].symptoms) is not values


@pytest.mark.parametrize("outcome", [v.FAILED, v.CRASHED])
def test_a_withheld_reason_leaves_the_rung_of_a_failure(outcome):
    check = v.Check("test_a", "A", outcome, rung="shape", reason=r.WrongShape((4711,), (2,)))
    (shown,) = redact(v.Verdict("softmax", outcome, [check]), NAMED).checks
    assert shown.reason == (r.NotRight("shape") if outcome == v.FAILED else None)


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (r.RaisedException("RuntimeError"), r.RaisedException("RuntimeError")),
        (r.RaisedException("Mine4711"), r.RaisedException("an exception")),
        (r.WrongDtype("float64", "bfloat16", True), r.WrongDtype("float64", "bfloat16", True)),
        (r.WrongDtype("x4711", "float32"), r.NotRight("values")),
        (r.NoGradient("weights['w_q']"), r.NoGradient("weights['w_q']")),
        (r.GradientDiffers("q", 3, 9), r.GradientDiffers("q", 0, 0)),
        (r.InputChanged("x"), r.InputChanged("x")),
        (r.EntryChanged("4711"), r.NotRight("values")),
        (r.Banned("torch.softmax", False), r.Banned("", True)),
        (r.NotATensor("Mine4711"), r.NotRight("values")),
        (r.WrongException("Mine4711", "ValueError"),
         r.WrongException("an exception", "ValueError")),
        (r.ProcessExited(47), r.NotRight("values")),
        (r.BackwardFailed(r.RaisedException("KeyError")),
         r.BackwardFailed(r.RaisedException("KeyError"))),
        (r.TimedOut(10.0, True), r.TimedOut(10.0)),
    ],
)  # fmt: skip
def test_what_named_feedback_says_of_a_failure(reason, shown):
    assert redact(verdict(reason), NAMED).checks[0].reason == shown


def test_why_a_file_does_not_load_is_shown_at_named():
    """No input has reached the file by then."""
    broken = v.Verdict("softmax", v.BROKEN, reason=r.NotPython("softmax.py", "invalid syntax"))
    broken.raised = v.Raised("SyntaxError", "invalid syntax", [v.Frame("softmax.py", 3, "")])
    shown = redact(broken, NAMED)
    assert (shown.reason, shown.raised) == (broken.reason, broken.raised)
    assert redact(broken, POINTS).reason is None


@pytest.mark.parametrize("level", LEVELS)
def test_no_level_shows_the_seed_or_the_audit_or_changes_the_original(level):
    full = verdict(r.ReturnedNone())
    full.seed, full.audit, full.output = 4711, [v.Notice("program")], WORD
    before = v.encode(full)
    shown = redact(full, level)
    assert (shown.seed, shown.audit) == (0, [])
    assert bool(shown.output) == (level == FULL)
    assert v.encode(full) == before
