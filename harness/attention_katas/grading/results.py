"""What grading comes to: plain data that every format writes down in its own way."""

from __future__ import annotations

import builtins
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from attention_katas import verdict as v

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


def shaped(result: Result, feedback: str) -> Result:
    """The result with as much in its verdicts as `feedback` lets a student see."""
    items = [replace(item, verdict=shape(item.verdict, feedback)) for item in result.items]
    return replace(result, items=items)


def shape(verdict: v.Verdict, feedback: str) -> v.Verdict:
    """A copy of the verdict for a student.

    full: all of it but the seed (which would tell what is asked the next time) and the audit (which
    is the teacher's). named: the checks by title, the mistake by name, where an exception came
    from; nothing that holds an input or an answer, and nothing that the code could have written one
    into: what it printed, the words and the class of its exceptions. points: outcome and counts.
    """
    shown = copy.deepcopy(verdict)
    shown.seed, shown.audit = 0, []
    if feedback == FULL:
        return shown
    shown.output = ""
    if shown.checks:  # else it is about the file, and no input was there yet
        first = shown.first_failure
        shown.message = _plain(first) if first else ""
        shown.raised = _anonymous(shown.raised)
    for check in shown.checks:
        raised = _anonymous(check.evidence.raised if check.evidence else None)
        check.message, check.output = _plain(check), ""
        check.evidence = v.Evidence(raised=raised) if raised else None
    shown.diagnoses = [_named(found) for found in shown.diagnoses]
    if feedback == POINTS:
        shown.message, shown.raised, shown.next_step, shown.diagnoses = "", None, "", []
        shown.checks = [
            v.Check(f"check-{number}", f"Check {number}", check.outcome, law=check.law)
            for number, check in enumerate(shown.checks, 1)
        ]
    return shown


def _plain(check: v.Check) -> str:
    """Why a check failed, without numbers or words of the submission."""
    if check.outcome == v.PASSED:
        return ""
    if check.outcome == v.NOT_REACHED:  # the judge's own words, about nothing that was asked
        return check.message
    raised = _anonymous(check.evidence.raised if check.evidence else None)
    if check.outcome == v.FAILED and raised and raised.type:
        return f"raised {raised.type}"
    return f"not right: {check.rung}" if check.outcome == v.FAILED else check.outcome


def _anonymous(raised: v.Raised | None) -> v.Raised | None:
    """Where an exception came from; its class only if it is one that everybody has."""
    if raised is None:
        return None
    known = isinstance(getattr(builtins, raised.type, None), type)
    return replace(raised, type=raised.type if known else "an exception", message="")


def _named(found: v.Diagnosis) -> v.Diagnosis:
    """What kind of mistake it is, without the answers that gave it away."""
    symptoms = [said for said in found.symptoms if not re.search(r"\d", said)]
    return replace(found, call="", at=None, yours=None, expected=None, symptoms=symptoms)
