"""What grading comes to: plain data that every format writes down in its own way."""

from __future__ import annotations

import builtins
import copy
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from attention_katas.verdict import data as v

# How much of a verdict the student gets to see.
FULL, NAMED, POINTS = "full", "named", "points"
FEEDBACK = (FULL, NAMED, POINTS)


@dataclass(frozen=True)
class Student:
    """Whose submission it is.

    id: unique in the class, and the same from run to run: a folder's name, or an id of the
    learning platform. ids: what else is known, by name: "canvas" (user id), "moodle" (participant
    number), "login", "email".
    """

    id: str
    name: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return self.name or self.id


@dataclass
class Item:
    """What came of one kata: its verdict, and points out of `worth`.

    points is None when it could not be graded: it then counts neither for nor against.
    """

    kata: str
    title: str
    worth: int
    points: int | None
    verdict: v.Verdict

    @property
    def passed(self) -> bool:
        return self.verdict.outcome == v.PASSED


@dataclass
class Result:
    """All katas of one student. remarks: what the teacher should know, in words."""

    student: Student
    items: list[Item]
    late: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def graded(self) -> bool:
        """Everything could be graded."""
        return all(item.points is not None for item in self.items)

    @property
    def points(self) -> int:
        """Points so far; what could not be graded adds nothing."""
        return sum(item.points or 0 for item in self.items)

    @property
    def worth(self) -> int:
        return sum(item.worth for item in self.items)


# Outcomes of a file with which something is the matter before any value is.
_TROUBLE = (v.BROKEN, v.TIMED_OUT, v.CRASHED, v.OUT_OF_MEMORY)


def trouble(result: Result) -> list[str]:
    """What kept katas from running to the end, for the teacher: alike ones in one sentence."""
    told: dict[tuple[str, str], list[str]] = {}
    for item in result.items:
        verdict = item.verdict
        if verdict.outcome in _TROUBLE:
            said = " ".join(verdict.message.split())
            # "mask.py does not load: ..." is the same for every kata of a notebook.
            said = re.sub(rf"^{re.escape(item.kata.replace('-', '_'))}\.py ", "", said)[:200]
            told.setdefault((verdict.outcome, said), []).append(item.kata)
    found = []
    for (outcome, said), katas in told.items():
        several = len(katas) == len(result.items) > 1
        names = f"all {len(katas)} katas" if several else ", ".join(katas)
        found.append(f"{names}: {outcome}: {said}" if said else f"{names}: {outcome}")
    return found


def points_for(verdict: v.Verdict, worth: int) -> int | None:
    """Points of a verdict: the floor of `worth` times the share of checks that passed.

    Only a pass earns all of them. A check that could not be verified on this machine is left out of
    the count. A law counts only where the values are right: the judge says "not reached" otherwise.
    """
    if verdict.outcome == v.COULD_NOT_GRADE:
        return None
    if verdict.outcome == v.PASSED:
        return worth
    counted = [check for check in verdict.checks if check.outcome != v.NOT_VERIFIED]
    if not counted:
        return 0
    passed = sum(check.outcome == v.PASSED for check in counted)
    return min(worth * passed // len(counted), max(worth - 1, 0))


def redacted(result: Result, feedback: str) -> Result:
    """The result with as much in its verdicts as `feedback` lets a student see."""
    files = [_file(item.kata) for item in result.items]
    items = [replace(item, verdict=shape(item.verdict, feedback, files)) for item in result.items]
    return replace(result, items=items)


def _file(kata: str) -> str:
    return f"{kata.replace('-', '_')}.py"


def shape(verdict: v.Verdict, feedback: str, files: Collection[str] = ()) -> v.Verdict:
    """A copy of the verdict for a student. files: of all katas, beside its own.

    full: all of it but the seed (which would tell what is asked the next time) and the audit (which
    is the teacher's). named: the checks by title, the mistake by name, where an exception came
    from; nothing that holds an input or an answer, and nothing that the code could have written one
    into: what it printed, the words and the class of its exceptions. points: outcome and counts.
    """
    shown = copy.deepcopy(verdict)
    shown.seed, shown.audit = 0, []
    if feedback == FULL:
        return shown
    shown.output, known = "", {*files, _file(verdict.kata)}
    if shown.checks:  # else it is about the file, and no input was there yet
        first = shown.first_failure
        shown.message = _plain(first) if first else ""
        shown.raised = _anonymous(shown.raised, known)
    for check in shown.checks:
        raised = _anonymous(check.evidence.raised if check.evidence else None, known)
        check.message, check.output = _plain(check), ""
        check.evidence = v.Evidence(raised=raised) if raised else None
    shown.diagnoses = [_named(found) for found in shown.diagnoses]
    if feedback == POINTS:
        shown.message, shown.raised, shown.next_step, shown.diagnoses = "", None, "", []
        shown.seconds = 0.0  # code can sleep for as long as an input says
        shown.checks = [
            v.Check(f"check-{number}", f"Check {number}", check.outcome, law=check.law)
            for number, check in enumerate(shown.checks, 1)
        ]
    return shown


# What is said of a failure without a number of an input or an answer, and without a word that the
# submission could have chosen: in these the names are those of the kata's own arguments.
_DTYPE = r"(bool|u?int\d+|b?float(16|32|64)|complex(64|128))"
_NAME = r"[a-z]\w{0,20}(\[['\"]\w{1,20}['\"]\])?"
_REDACTED_SAFE = tuple(
    map(
        re.compile,
        (
            rf"{_DTYPE} came back, expected {_DTYPE}(, the dtype of the input)?",
            rf"no gradient reaches {_NAME}: it is cut off on the way",
            rf"the gradient of {_NAME} (has the wrong shape|differs|is not finite)",
            r"the gradients are not the slopes of what the function computes",
            r"this call leaves gradients switched off .{1,120}",
            r"this call rewrote the answer of an earlier one; .{1,60}",
            rf"the call changed its input {_NAME}; work on a new tensor",
            r"a tensor made here is on the default device, not on that of the inputs",
            r"the answer is on the cpu, wherever the inputs are",
        ),
    )
)
_BANNED = "uses a built-in that is switched off here: this kata is about writing it by hand"


def _plain(check: v.Check) -> str:
    """Why a check failed, without numbers or words of the submission."""
    if check.outcome == v.PASSED:
        return ""
    if check.outcome == v.NOT_REACHED:  # the judge's own words, about nothing that was asked
        return check.message
    if check.rung == "nothing banned":
        return _BANNED
    if check.outcome == v.FAILED:
        said = re.sub(r" in \d+ of \d+ entries.*", "", check.message)
        if any(sayable.fullmatch(said) for sayable in _REDACTED_SAFE):
            return said
    raised = _anonymous(check.evidence.raised if check.evidence else None)
    if check.outcome == v.FAILED and raised and raised.type:
        return f"raised {raised.type}"
    return f"not right: {check.rung}" if check.outcome == v.FAILED else check.outcome


def _anonymous(raised: v.Raised | None, files: Collection[str] = ()) -> v.Raised | None:
    """Where an exception came from; its class only if it is one that everybody has.

    Code can be given any name of a function or of a file while it runs.
    """
    if raised is None:
        return None
    known = isinstance(getattr(builtins, raised.type, None), type)
    frames = [
        v.Frame(frame.file, frame.line, "") for frame in raised.frames[-3:] if frame.file in files
    ]
    kind = raised.type if known else "an exception"
    return replace(raised, type=kind, message="", frames=frames)


def _named(found: v.Diagnosis) -> v.Diagnosis:
    """What kind of mistake it is, without the answers that gave it away."""
    symptoms = [said for said in found.symptoms if not re.search(r"\d", said)]
    return replace(found, call="", at=None, yours=None, expected=None, symptoms=symptoms)
