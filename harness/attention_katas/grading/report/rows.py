"""A run of the ledger as rows, one for each student and kata, with what a report needs of each.

The verdicts themselves, with all their evidence, are let go again: a class of ten thousand fits.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from attention_katas import verdict as v
from attention_katas.grading.gradebook import NOT_YET
from attention_katas.grading.ledger import Entry, Ledger, Noted, Run
from attention_katas.grading.results import points_for

# What is known of a failure, beside the mistakes that have a name.
NAMED = "named"
EARLIER = "earlier work is to blame"
SYMPTOMS = "only symptoms"
UNNAMED = "no diagnosis"
NOT_RUN = "did not run to the end"
APART = (EARLIER, SYMPTOMS, UNNAMED, NOT_RUN)

FAILING = (v.FAILED, v.TIMED_OUT, v.OUT_OF_MEMORY, v.CRASHED)


@dataclass(frozen=True, order=True)
class Misconception:
    """A mistake that has a name. id: the same from version to version, within its kata."""

    kata: str
    id: str
    function: str = field(compare=False)
    title: str = field(compare=False)
    ask: str = field(compare=False)
    convention: bool = field(compare=False, default=False)


@dataclass(frozen=True)
class Facts:
    """What a report needs of a verdict.

    points: None when it could not be graded. named: both of two mistakes. known: NAMED, or one of
    APART, or "" where nothing failed. failing: titles of checks. stop: why it is not passed, in
    words that are ours. code: the hash of the code and of what it imports, or "".
    """

    outcome: str
    points: int | None
    passed: int = 0
    total: int = 0
    message: str = ""
    named: tuple[Misconception, ...] = ()
    known: str = ""
    failing: tuple[str, ...] = ()
    stop: str = ""
    audit: tuple[str, ...] = ()
    code: str = ""
    kata_version: str = ""
    seed: int = 0
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def wrong(self) -> bool:
        """It was judged, and is not right."""
        return self.outcome not in (v.PASSED, v.NOT_STARTED, v.COULD_NOT_GRADE)


@dataclass(frozen=True)
class Row:
    """One kata of one student."""

    student: str
    entry: Entry
    facts: Facts

    @property
    def kata(self) -> str:
        return self.entry.kata


@dataclass
class Graded:
    """A run. people: by the student's id. rows: of a student together, katas in their order.

    worth: what each kata is worth, in the order of the katas.
    """

    run: Run
    people: dict[str, Noted] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    worth: dict[str, int] = field(default_factory=dict)


Known = dict[tuple[str, int], Facts]


def read(ledger: Ledger, run: Run, known: Known | None = None) -> Graded:
    """Everything of a run. Raises KataError when the ledger is damaged.

    known: what was read of other runs of the same ledger, to which this is added.
    """
    found = Graded(run)
    known = {} if known is None else known
    for noted in ledger.noted(run.id):
        found.people[noted.student.id] = noted
        for entry in noted.entries:
            key = (entry.key, entry.worth)
            if key not in known:
                known[key] = _facts(ledger.verdict(entry.key), entry.worth)
            found.rows.append(Row(noted.student.id, entry, known[key]))
            found.worth[entry.kata] = entry.worth
    return found


def _facts(verdict: v.Verdict | None, worth: int) -> Facts:
    if verdict is None:
        return Facts(v.COULD_NOT_GRADE, None, message=NOT_YET)
    named = _named(verdict)
    return Facts(
        outcome=verdict.outcome,
        points=points_for(verdict, worth),
        passed=verdict.passed,
        total=verdict.total,
        message=verdict.message,
        named=named,
        known=NAMED if named else _known(verdict),
        failing=tuple(c.title for c in verdict.checks if c.outcome in FAILING),
        stop=_stop(verdict),
        audit=tuple(verdict.audit),
        code=verdict.source_hash,
        kata_version=verdict.kata_version,
        seed=verdict.seed,
        versions=tuple(sorted(verdict.versions.items())),
    )


def _named(verdict: v.Verdict) -> tuple[Misconception, ...]:
    """Each named mistake once, by its id."""
    found = {}
    for diagnosis in verdict.diagnoses:
        if diagnosis.kind in (v.MISTAKE, v.TWO_MISTAKES, v.CONVENTION):
            for cause in diagnosis.causes:
                found[cause.id] = Misconception(
                    sys.intern(verdict.kata),
                    sys.intern(cause.id),
                    sys.intern(diagnosis.function),
                    sys.intern(cause.title),
                    sys.intern(cause.ask),
                    # Of two, one may be a convention: its text says what the contract is.
                    diagnosis.kind == v.CONVENTION or cause.ask.rstrip().endswith("."),
                )
    return tuple(found.values())


def _known(verdict: v.Verdict) -> str:
    if verdict.outcome in (v.PASSED, v.NOT_STARTED, v.COULD_NOT_GRADE):
        return ""
    kinds = {diagnosis.kind for diagnosis in verdict.diagnoses}
    if v.EARLIER_WORK in kinds:
        return EARLIER
    if v.SYMPTOMS in kinds:
        return SYMPTOMS
    return UNNAMED if verdict.outcome == v.FAILED else NOT_RUN


def _stop(verdict: v.Verdict) -> str:
    """Where it ended: the first check that fails, or the outcome."""
    first = verdict.first_failure
    if verdict.outcome == v.PASSED:
        return ""
    return sys.intern(first.title) if first else verdict.outcome
