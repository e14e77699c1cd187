"""A run of the ledger as rows, one for each student and kata, with a summary of each verdict.

The verdicts with their evidence are not kept, so that a class of ten thousand fits into memory.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from attention_katas.grading.ledger import Entry, Ledger, LedgerStudent, Run
from attention_katas.grading.report import facts as f
from attention_katas.grading.results import NOT_JUDGED, cause, is_waiting, points_for
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict.redact import raised_for_student

BUILT_IN = "uses-the-built-in"

FAILING = (v.FAILED, v.TIMED_OUT, v.OUT_OF_MEMORY, v.CRASHED)


@dataclass(frozen=True, order=True)
class Misconception:
    """A mistake that has a name.

    id: unique in its kata, and the same from version to version.
    title: completes "your function ...".
    question: what a tutor would ask.
    convention: it is another convention, not a mistake.
    """

    kata: str
    id: str
    function: str = field(compare=False)
    title: str = field(compare=False)
    question: str = field(compare=False)
    convention: bool = field(compare=False, default=False)


@dataclass(frozen=True)
class VerdictSummary:
    """What a report needs of a verdict.

    points: None when it could not be graded.
    passed, total: checks.
    reason: why it is not a pass.
    named: the mistakes that have a name.
    knowledge: `facts.NAMED`, one of `facts.APART`, or "" where nothing failed.
    failing: titles of checks.
    stop: the title of the first check that fails, or the outcome.
    raised: the class of the exception that kept the file from loading, if Python has that class.
    code: the hash of the code and of its imports, or "".
    """

    outcome: v.Outcome
    points: int | None
    passed: int = 0
    total: int = 0
    reason: r.Reason | None = None
    named: tuple[Misconception, ...] = ()
    knowledge: str = ""
    failing: tuple[str, ...] = ()
    stop: str = ""
    raised: str = ""
    audit: tuple[v.Notice, ...] = ()
    code: str = ""
    kata_version: str = ""
    seed: int = 0
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def wrong(self) -> bool:
        """It was judged, and is not right."""
        return self.outcome not in (v.PASSED, v.NOT_STARTED, v.COULD_NOT_GRADE)

    @property
    def waiting(self) -> bool:
        """The grading was stopped before it was judged."""
        return is_waiting(self.reason)

    @property
    def counted_as(self) -> str:
        """The outcome, or NOT_JUDGED."""
        return NOT_JUDGED if self.waiting else self.outcome


@dataclass(frozen=True)
class Row:
    """One kata of one student."""

    student: str
    entry: Entry
    facts: VerdictSummary

    @property
    def kata(self) -> str:
        return self.entry.kata


@dataclass
class Graded:
    """A run.

    people: by the student's id.
    rows: those of a student together, katas in their order.
    worth: the points of each kata, in the order of the katas.
    """

    run: Run
    people: dict[str, LedgerStudent] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    worth: dict[str, int] = field(default_factory=dict)


Summaries = dict[tuple[str, int], VerdictSummary]


def read(ledger: Ledger, run: Run, summaries: Summaries | None = None) -> Graded:
    """All rows of a run. Raises KataError when the ledger is damaged.

    summaries: of verdicts that other runs of the same ledger share; new ones are added.
    """
    graded = Graded(run)
    summaries = {} if summaries is None else summaries
    for student in ledger.students(run.id):
        graded.people[student.student.id] = student
        for entry in student.entries:
            key = (entry.key, entry.worth)
            if key not in summaries:
                summaries[key] = _summary(ledger.verdict(entry.key), entry.worth)
            graded.rows.append(Row(student.student.id, entry, summaries[key]))
            graded.worth[entry.kata] = entry.worth
    return graded


def _summary(verdict: v.Verdict | None, worth: int) -> VerdictSummary:
    if verdict is None:
        return VerdictSummary(v.COULD_NOT_GRADE, None, reason=r.NotJudgedYet())
    named = _named(verdict)
    return VerdictSummary(
        outcome=verdict.outcome,
        points=points_for(verdict, worth),
        passed=verdict.passed,
        total=verdict.total,
        reason=cause(verdict),
        named=named,
        knowledge=f.NAMED if named else _knowledge(verdict),
        failing=tuple(c.title for c in verdict.checks if c.outcome in FAILING),
        stop=_stop(verdict),
        raised=_python_class(verdict.raised),
        audit=tuple(verdict.audit),
        code=verdict.source_hash,
        kata_version=verdict.kata_version,
        seed=verdict.seed,
        versions=tuple(sorted(verdict.versions.items())),
    )


def _named(verdict: v.Verdict) -> tuple[Misconception, ...]:
    """Each named mistake once, by its id; calling the banned built-in is one, too."""
    kata = sys.intern(verdict.kata)
    named = {}
    if any(isinstance(check.reason, r.Banned) for check in verdict.checks):
        named[BUILT_IN] = _built_in(kata)
    for diagnosis in verdict.diagnoses:
        if diagnosis.kind in (v.MISTAKE, v.TWO_MISTAKES, v.CONVENTION):
            for cause in diagnosis.causes:
                named[cause.id] = _misconception(kata, diagnosis.function, cause)
    return tuple(named.values())


def _misconception(kata: str, function: str, cause: v.Cause) -> Misconception:
    return Misconception(
        kata,
        sys.intern(cause.id),
        sys.intern(function),
        sys.intern(cause.title),
        sys.intern(cause.question),
        cause.kind == v.CONVENTION,
    )


def _built_in(kata: str) -> Misconception:
    return Misconception(
        kata,
        BUILT_IN,
        "",
        "uses the built-in that the kata is about",
        "What does that function do, step by step?",
    )


def _python_class(raised: v.Raised | None) -> str:
    """The class of an exception, if Python has that class: a student may see no other."""
    visible = raised_for_student(raised)
    return visible.type if raised and visible and visible.type == raised.type else ""


def _knowledge(verdict: v.Verdict) -> str:
    if verdict.outcome in (v.PASSED, v.NOT_STARTED, v.COULD_NOT_GRADE):
        return ""
    kinds = {diagnosis.kind for diagnosis in verdict.diagnoses}
    if v.EARLIER_WORK in kinds:
        return f.EARLIER
    if v.SYMPTOMS in kinds:
        return f.SYMPTOMS
    if verdict.outcome != v.FAILED:
        return f.NOT_RUN
    failing = any(check.outcome in FAILING for check in verdict.checks)
    return f.UNNAMED if failing or not verdict.checks else f.UNFINISHED


def _stop(verdict: v.Verdict) -> str:
    """Where it ended: the first check that fails, or the outcome."""
    first = verdict.first_failure
    if verdict.outcome == v.PASSED:
        return ""
    return sys.intern(first.title) if first else verdict.outcome
