"""How much of a verdict a student sees: facts are kept, blanked or withheld by their type.

At the level `named` nothing may be left that holds an input or an answer, and nothing that the
submission could have written one into: numbers, texts and classes of its exceptions, exit statuses,
what it printed. Names of a kata's own functions and arguments stay.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

import msgspec

from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import symptoms as s

FULL: Final = "full"
NAMED: Final = "named"
POINTS: Final = "points"
LEVELS = (FULL, NAMED, POINTS)

# The dtypes of torch: any other word was written by the submission.
DTYPES = frozenset(
    {"bool", "half", "bfloat16"}
    | {f"uint{bits}" for bits in (8, 16, 32, 64)}
    | {f"int{bits}" for bits in (8, 16, 32, 64)}
    | {f"float{bits}" for bits in (16, 32, 64)}
    | {f"complex{bits}" for bits in (32, 64, 128)}
)
EXCEPTION = "an exception"  # instead of the name of a class that only the submission has
MOST_FRAMES = 3


def redact(verdict: v.Verdict, level: str, files: Collection[str] = ()) -> v.Verdict:
    """The verdict with what the level lets a student see.

    full: without the seed, which decides the inputs of the next time, and without the audit.
    named: besides, without inputs, answers and words of the submission.
    points: outcomes and counts.
    files: the kata files, whose lines may be named; the kata's own is one of them.
    """
    verdict = msgspec.structs.replace(verdict, seed=0, audit=[])
    if level == FULL:
        return verdict
    verdict = _named(verdict, {*files, verdict.own_file})
    return _points(verdict) if level == POINTS else verdict


def _named(verdict: v.Verdict, files: Collection[str]) -> v.Verdict:
    reason, raised = verdict.reason, verdict.raised
    if verdict.checks:  # else the reason is about the file, which no input has reached
        reason, raised = reason_for_student(reason), raised_for_student(raised, files)
    return msgspec.structs.replace(
        verdict,
        checks=[_check(check, files) for check in verdict.checks],
        reason=reason,
        raised=raised,
        output="",
        diagnoses=[_diagnosis(diagnosis) for diagnosis in verdict.diagnoses],
    )


def _points(verdict: v.Verdict) -> v.Verdict:
    checks = [
        v.Check(f"check-{number}", f"Check {number}", check.outcome, law=check.law)
        for number, check in enumerate(verdict.checks, 1)
    ]
    return msgspec.structs.replace(
        verdict,
        checks=checks,
        reason=None,
        next_step=None,
        raised=None,
        diagnoses=[],
        seconds=0.0,  # code can sleep for as long as an input says
    )


def _check(check: v.Check, files: Collection[str]) -> v.Check:
    raised = raised_for_student(check.evidence.raised if check.evidence else None, files)
    reason = reason_for_student(check.reason)
    if reason is None and check.outcome == v.FAILED:
        reason = r.NotRight(check.rung)
    return msgspec.structs.replace(
        check,
        reason=reason,
        output="",
        evidence=v.Evidence(raised=raised) if raised else None,
    )


def _diagnosis(diagnosis: v.Diagnosis) -> v.Diagnosis:
    """What kind of mistake it is, without the answers that gave it away."""
    symptoms = map(symptom_for_student, diagnosis.symptoms)
    return msgspec.structs.replace(
        diagnosis,
        symptoms=[symptom for symptom in symptoms if symptom is not None],
        call="",
        at=None,
        yours=None,
        expected=None,
        fault=None,
    )


def raised_for_student(raised: v.Raised | None, files: Collection[str] = ()) -> v.Raised | None:
    """Where an exception came from; its class if Python has it.

    Code can be given any name of a function or of a file while it runs.
    """
    if raised is None:
        return None
    frames = [
        v.Frame(frame.file, frame.line, "")
        for frame in raised.frames[-MOST_FRAMES:]
        if frame.file in files
    ]
    return v.Raised(_class(raised.type), "", frames)


def _class(name: str) -> str:
    return name if isinstance(getattr(builtins, name, None), type) else EXCEPTION


def reason_for_student(reason: r.Reason | None) -> r.Reason | None:
    """The reason as far as a student may see it; None where nothing is left."""
    return None if reason is None else REASONS[type(reason)](reason)


def symptom_for_student(symptom: s.Symptom) -> s.Symptom | None:
    """The symptom, or None where it holds what the submission could have written."""
    result: s.Symptom | None = SYMPTOMS[type(symptom)](symptom)
    return result


def _keep(fact: Any) -> Any:
    return fact


def _withhold(fact: Any) -> None:
    return None


def _blank(**fields: Any) -> Callable[[Any], Any]:
    return lambda fact: msgspec.structs.replace(fact, **fields)


def _known_dtypes(fact: Any) -> Any:
    return fact if {fact.yours, fact.expected} <= DTYPES else None


def _backward_failed(fact: r.BackwardFailed) -> r.BackwardFailed | None:
    reason = reason_for_student(fact.reason)
    return None if reason is None else r.BackwardFailed(reason)


def _rules(kept: Iterable[type], withheld: Iterable[type]) -> dict[type, Callable[[Any], Any]]:
    return {**dict.fromkeys(kept, _keep), **dict.fromkeys(withheld, _withhold)}


# One rule for each type; a type without a rule is a KeyError, never a leak.
REASONS: dict[type, Callable[[Any], Any]] = _rules(
    kept=(
        # Without fields, or with limits, functions and arguments of ours.
        r.Cancelled,
        r.VerdictTooLarge,
        r.WorkersEnded,
        r.NotJudgedYet,
        r.KataTimedOut,
        r.TooManyThreads,
        r.TooMuchOutput,
        r.ReturnedNone,
        r.NoGradient,
        r.GradientShape,
        r.GradientsOff,
        r.InputChanged,
        r.AnswerOverwritten,
        r.NoException,
        r.NotTheSlopes,
        r.MadeOnDefaultDevice,
        r.AnswerOnCpu,
        r.NotRight,
        r.NotWritten,
        r.HungBefore,
        r.ValuesFirst,
        r.NeedsFloat64,
        r.NoFakeDevice,
        r.OtherOnFakeDevice,
    ),
    withheld=(
        # About the file: they stand in a verdict without checks, where they are not redacted.
        r.FileMissing,
        r.LinkDangling,
        r.NotAnOrdinaryFile,
        r.TooLarge,
        r.Utf16,
        r.NulByte,
        r.NotUtf8,
        r.CannotBeRead,
        r.LinkNotFollowed,
        r.DamagedInArchive,
        r.StillStub,
        r.FunctionMissing,
        r.NotAFunction,
        r.NotPython,
        r.ImportNotPython,
        r.DoesNotLoad,
        r.ImportMissing,
        # Texts of exceptions, and what only the teacher can mend.
        r.JudgeFault,
        r.CannotJudge,
        r.PackFileBroken,
        r.CheckBroke,
        r.MissingRestrictions,
        r.BanOpen,
        r.MachineBusy,
        r.GraderFault,
        r.FolderNotListed,
        r.WorkersLost,
        r.WorkerRefused,
        r.LawBroken,
        r.TestRaised,
        # Signals, statuses and messages that code can choose.
        r.ProcessKilled,
        r.ProcessExited,
        r.ProcessGone,
        r.ProcessNeverStarted,
        r.BadReply,
        # Inputs and answers.
        r.CannotBeCalled,
        r.NeedsUnwritten,
        r.NotATensor,
        r.WrongStructure,
        r.CannotBeSent,
        r.WrongShape,
        r.WrongDevice,
        r.NotFinite,
        r.HiddenNotZero,
        r.EntriesDiffer,
        r.EntryChanged,
    ),
) | {
    r.TimedOut: _blank(loading=False),
    r.MemoryExceeded: _blank(refused=False),
    r.RaisedException: lambda fact: r.RaisedException(_class(fact.type)),
    r.Banned: lambda fact: r.Banned("", stopped=True),
    r.WrongDtype: _known_dtypes,
    r.GradientDiffers: _blank(count=0, total=0),
    r.BackwardFailed: _backward_failed,
    r.WrongException: lambda fact: r.WrongException(_class(fact.raised), fact.expected),
}

SYMPTOMS: dict[type, Callable[[Any], Any]] = _rules(
    kept=(
        s.OtherAnswerEachTime,
        s.AlsoWrong,
        s.RefusesNothing,
        s.OtherInHalfPrecision,
        s.Pitfall,
    ),
    withheld=(
        # What an exception says, and code can raise its own.
        s.InnerSizesDiffer,
        s.BatchSizesDiffer,
        s.BroadcastSizesDiffer,
        s.EinsumSizesDiffer,
        s.EinsumAxes,
        s.ShapeHoldsOther,
        s.CannotExpand,
        s.NoSuchAxis,
        s.PermuteAxes,
    ),
) | {
    s.Measured: lambda fact: None if fact.values else fact,
    s.OtherDtype: _known_dtypes,
}
