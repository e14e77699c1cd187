"""What the judge says: plain data that every report, the progress file and the screen share.

Nothing here imports torch, so that a verdict can be read, stored and shown anywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA_VERSION = 1

PASSED = "passed"
FAILED = "failed"
NOT_STARTED = "not started"
BROKEN = "broken"
TIMED_OUT = "timed out"
OUT_OF_MEMORY = "out of memory"
CRASHED = "crashed"
COULD_NOT_GRADE = "could not grade"

OUTCOMES = (
    PASSED,
    FAILED,
    NOT_STARTED,
    BROKEN,
    TIMED_OUT,
    OUT_OF_MEMORY,
    CRASHED,
    COULD_NOT_GRADE,
)

# Outcomes of a single check, beside PASSED, FAILED, TIMED_OUT, OUT_OF_MEMORY and CRASHED.
NOT_REACHED = "not reached"
NOT_WRITTEN = "not written yet"
NOT_VERIFIED = "not verified"

CHECK_OUTCOMES = (
    PASSED,
    FAILED,
    TIMED_OUT,
    OUT_OF_MEMORY,
    CRASHED,
    NOT_WRITTEN,
    NOT_REACHED,
    NOT_VERIFIED,
)

# The ladder: a check stops at the first rung that fails.
RUNGS = (
    "answered",
    "type",
    "shape",
    "dtype",
    "device",
    "finite",
    "values",
    "gradients",
    "inputs unchanged",
    "nothing banned",
)


@dataclass
class Frame:
    """One line of the learner's own code on the way to an exception."""

    file: str
    line: int
    function: str
    code: str = ""


@dataclass
class Raised:
    """An exception as the learner should see it: no frame of ours."""

    type: str
    message: str
    frames: list[Frame] = field(default_factory=list)
    column: int | None = None

    @property
    def where(self) -> Frame | None:
        return self.frames[-1] if self.frames else None


@dataclass
class Grid:
    """The part of a tensor that is worth looking at: at most 8 x 8 numbers.

    `cells` holds floats, or the strings "nan", "inf", "-inf" (JSON has no words for them).
    `shape` is the shape of the whole tensor, `at` the leading indices of the part shown and
    `origin` the row and column of its first cell. `along` is the axis that was made the rows of
    what is shown, when it is not the last one anyway.
    """

    cells: list[list[float | str]]
    shape: list[int]
    at: list[int] = field(default_factory=list)
    origin: list[int] = field(default_factory=lambda: [0, 0])
    whole: bool = True
    along: int | None = None
    row_sums: list[float | str] | None = None


@dataclass
class Evidence:
    """Why a check failed: the call, what came back, what was expected.

    `of` says what the grids show when that is not the answer: "gradient of x".
    """

    call: str = ""
    inputs: list[str] = field(default_factory=list)
    yours: Grid | None = None
    expected: Grid | None = None
    wrong: list[list[bool]] | None = None
    masked: list[list[bool]] | None = None
    of: str = ""
    returned: str = ""
    wanted: str = ""
    raised: Raised | None = None


@dataclass
class Check:
    """One hidden test and what became of it."""

    name: str
    title: str
    outcome: str
    law: bool = False
    rung: str = ""
    message: str = ""
    seconds: float = 0.0
    evidence: Evidence | None = None
    output: str = ""


# What kind of answer a diagnosis is.
MISTAKE = "mistake"
TWO_MISTAKES = "two mistakes"
CONVENTION = "another convention"
EARLIER_WORK = "earlier work"
SYMPTOMS = "symptoms"
NO_DIAGNOSIS = "no diagnosis"

DIAGNOSES = (MISTAKE, TWO_MISTAKES, CONVENTION, EARLIER_WORK, SYMPTOMS, NO_DIAGNOSIS)


@dataclass
class Cause:
    """A known way of getting it wrong.

    title completes "your function ..."; ask is a question to think about; `id` stays the same from
    version to version. hint is the title of the rung of hints.md that speaks about it, level its
    number (0: none does).
    """

    id: str
    title: str
    ask: str = ""
    hint: str = ""
    level: int = 0


@dataclass
class Diagnosis:
    """What is behind a failure of one function, as far as it can be told without guessing.

    causes: what explains every answer (two for `two mistakes`). symptoms: which properties are
    broken, in words, when nothing that is known explains them; for an exception, what met what.
    blames, file: for `earlier work`, which function or kata it is, and where that stands.
    explained: how many answers the causes explain, all of those that were looked at. call, yours
    and expected are the plainest of them. undecided: ids of what would explain it and could not be
    told apart; then nothing is named.
    """

    function: str
    kind: str
    causes: list[Cause] = field(default_factory=list)
    symptoms: list[str] = field(default_factory=list)
    file: str = ""
    blames: str = ""
    explained: int = 0
    call: str = ""
    at: list[int] | None = None
    yours: float | str | None = None
    expected: float | str | None = None
    undecided: list[str] = field(default_factory=list)


@dataclass
class Verdict:
    """The judgement of one submission against one kata."""

    kata: str
    outcome: str
    checks: list[Check] = field(default_factory=list)
    message: str = ""
    next_step: str = ""
    raised: Raised | None = None
    output: str = ""
    file: str = ""
    kata_version: str = ""
    source_hash: str = ""
    device: str = "cpu"
    seed: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    locks: list[str] = field(default_factory=list)
    audit: list[str] = field(default_factory=list)
    diagnoses: list[Diagnosis] = field(default_factory=list)

    @property
    def passed(self) -> int:
        return sum(check.outcome == PASSED for check in self.checks)

    @property
    def total(self) -> int:
        return len(self.checks)

    @property
    def first_failure(self) -> Check | None:
        """The first check that neither passed nor merely waited for another one."""
        waiting = (PASSED, NOT_REACHED, NOT_VERIFIED)
        return next((check for check in self.checks if check.outcome not in waiting), None)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed, "total": self.total}


def from_dict(data: dict[str, Any]) -> Verdict:
    """The verdict that `to_dict` made. Raises TypeError or KeyError for anything else."""
    data = {key: value for key, value in data.items() if key not in ("passed", "total")}
    data["raised"] = _raised(data["raised"])
    data["checks"] = [
        Check(**{**check, "evidence": evidence_from_dict(check["evidence"])})
        for check in data["checks"]
    ]
    data["diagnoses"] = [
        Diagnosis(**{**found, "causes": [Cause(**cause) for cause in found["causes"]]})
        for found in data["diagnoses"]
    ]
    return Verdict(**data)


def evidence_from_dict(data: dict[str, Any] | None) -> Evidence | None:
    """Evidence from its plain form."""
    if data is None:
        return None
    grids = {
        name: Grid(**data[name]) if data[name] is not None else None
        for name in ("yours", "expected")
    }
    return Evidence(**{**data, **grids, "raised": _raised(data["raised"])})


def _raised(data: dict[str, Any] | None) -> Raised | None:
    if data is None:
        return None
    return Raised(**{**data, "frames": [Frame(**frame) for frame in data["frames"]]})


def exit_code(verdicts: list[Verdict]) -> int:
    """0 all passed; 1 judged and not passed; 3 could not grade, which beats 1."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if COULD_NOT_GRADE in outcomes:
        return 3
    return 0 if outcomes <= {PASSED} else 1
