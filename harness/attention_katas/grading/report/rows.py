"""A run of the ledger as rows, one for each student and kata, with what a report needs of each.

The verdicts themselves, with all their evidence, are let go again: a class of ten thousand fits.
"""

from __future__ import annotations

import builtins
import sys
from dataclasses import dataclass, field, replace

from attention_katas.grading.ledger import Entry, Ledger, Noted, Run
from attention_katas.grading.results import points_for
from attention_katas.grading.run import NOT_YET
from attention_katas.verdict import data as v

# What is known of a failure, beside the mistakes that have a name.
NAMED = "named"
EARLIER = "earlier work is to blame"
SYMPTOMS = "only symptoms"
UNNAMED = "no diagnosis"
UNFINISHED = "not all of it written"
NOT_RUN = "did not run to the end"
APART = (EARLIER, SYMPTOMS, UNNAMED, UNFINISHED, NOT_RUN)

# The rung at which a check fails that called what the kata wants written by hand.
BANNED = "nothing banned"
BUILT_IN = "uses-the-built-in"
# Of the syntax tree of a file without code.
EMPTY_SIZE = 1

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
class VerdictSummary:
    """What a report needs of a verdict.

    points: None when it could not be graded. named: both of two mistakes. known: NAMED, or one of
    APART, or "" where nothing failed. failing: titles of checks. stop: why it is not passed, in
    words that are ours. raised: the class of the exception that kept it from loading, if everybody
    has that class. code: the hash of the code and of what it imports, or "".
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
    raised: str = ""
    audit: tuple[str, ...] = ()
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
        return self.outcome == v.COULD_NOT_GRADE and self.message == NOT_YET


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
    """A run. people: by the student's id. rows: of a student together, katas in their order.

    worth: what each kata is worth, in the order of the katas.
    """

    run: Run
    people: dict[str, Noted] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    worth: dict[str, int] = field(default_factory=dict)


Known = dict[tuple[str, int], VerdictSummary]


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
            found.rows.append(Row(noted.student.id, entry, _unless_empty(entry, known[key])))
            found.worth[entry.kata] = entry.worth
    return found


def _unless_empty(entry: Entry, facts: VerdictSummary) -> VerdictSummary:
    """To the judge an empty file is broken; in a class it is one that was not started."""
    if facts.outcome != v.BROKEN or entry.size != EMPTY_SIZE:
        return facts
    return replace(facts, outcome=v.NOT_STARTED, known="", stop=v.NOT_STARTED)


def _facts(verdict: v.Verdict | None, worth: int) -> VerdictSummary:
    if verdict is None:
        return VerdictSummary(v.COULD_NOT_GRADE, None, message=NOT_YET)
    named = _named(verdict)
    return VerdictSummary(
        outcome=verdict.outcome,
        points=points_for(verdict, worth),
        passed=verdict.passed,
        total=verdict.total,
        message=_message(verdict),
        named=named,
        known=NAMED if named else _known(verdict),
        failing=tuple(c.title for c in verdict.checks if c.outcome in FAILING),
        stop=_stop(verdict),
        raised=_class(verdict.raised),
        audit=tuple(verdict.audit),
        code=verdict.source_hash,
        kata_version=verdict.kata_version,
        seed=verdict.seed,
        versions=tuple(sorted(verdict.versions.items())),
    )


def _named(verdict: v.Verdict) -> tuple[Misconception, ...]:
    """Each named mistake once, by its id; calling the built-in is one, too."""
    found = {}
    if any(check.rung == BANNED and check.outcome == v.FAILED for check in verdict.checks):
        found[BUILT_IN] = _built_in(sys.intern(verdict.kata))
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


def _built_in(kata: str) -> Misconception:
    return Misconception(
        kata,
        BUILT_IN,
        "",
        "uses the built-in that the kata is about",
        "What does that function do, step by step?",
    )


def _message(verdict: v.Verdict) -> str:
    """Why it is not passed: of checks, the first that ended as the whole did."""
    same = (c.message for c in verdict.checks if c.outcome == verdict.outcome != v.PASSED)
    return next(filter(None, same), verdict.message)


def _class(raised: v.Raised | None) -> str:
    """The class of an exception, unless it may be one of the submission's own."""
    known = raised and isinstance(getattr(builtins, raised.type, None), type)
    return raised.type if raised and known else ""


def _known(verdict: v.Verdict) -> str:
    if verdict.outcome in (v.PASSED, v.NOT_STARTED, v.COULD_NOT_GRADE):
        return ""
    kinds = {diagnosis.kind for diagnosis in verdict.diagnoses}
    if v.EARLIER_WORK in kinds:
        return EARLIER
    if v.SYMPTOMS in kinds:
        return SYMPTOMS
    if verdict.outcome != v.FAILED:
        return NOT_RUN
    written = any(check.outcome in FAILING for check in verdict.checks) or not verdict.checks
    return UNNAMED if written else UNFINISHED


def _stop(verdict: v.Verdict) -> str:
    """Where it ended: the first check that fails, or the outcome."""
    first = verdict.first_failure
    if verdict.outcome == v.PASSED:
        return ""
    return sys.intern(first.title) if first else verdict.outcome
