"""What the judge finds: facts that every report, the progress file and the screens share.

There are no sentences here; `verdict.words` writes them. Nothing here imports torch, so that a
verdict can be read, stored and shown anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from attention_katas.verdict.facts import Cell
from attention_katas.verdict.reasons import Reason
from attention_katas.verdict.steps import Step
from attention_katas.verdict.symptoms import Symptom

SCHEMA_VERSION = 2

PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_STARTED: Final = "not started"
BROKEN: Final = "broken"
TIMED_OUT: Final = "timed out"
OUT_OF_MEMORY: Final = "out of memory"
CRASHED: Final = "crashed"
COULD_NOT_GRADE: Final = "could not grade"

Outcome = Literal[
    "passed",
    "failed",
    "not started",
    "broken",
    "timed out",
    "out of memory",
    "crashed",
    "could not grade",
]
OUTCOMES: tuple[Outcome, ...] = (
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
NOT_REACHED: Final = "not reached"
NOT_WRITTEN: Final = "not written yet"
NOT_VERIFIED: Final = "not verified"

CheckOutcome = Literal[
    "passed",
    "failed",
    "timed out",
    "out of memory",
    "crashed",
    "not written yet",
    "not reached",
    "not verified",
]

# The ladder: a check stops at the first rung that fails.
Rung = Literal[
    "",
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
]


class Frame(msgspec.Struct):
    """One line of the learner's own code on the way to an exception."""

    file: str
    line: int
    function: str
    code: str = ""


class Raised(msgspec.Struct):
    """An exception in the learner's code, without frames of ours.

    type: its class.
    message: its text.
    frames: the learner's own lines, the innermost last.
    column: where in the innermost line, counted from 1, if known.
    """

    type: str
    message: str
    frames: list[Frame] = []
    column: int | None = None

    @property
    def where(self) -> Frame | None:
        return self.frames[-1] if self.frames else None


class Grid(msgspec.Struct):
    """The part of a tensor that is worth a look: at most 8 x 8 numbers.

    cells: numbers; "nan", "inf" and "-inf" are strings.
    shape: of the whole tensor.
    at: leading indices of the part that is shown.
    origin: row and column of its first cell.
    whole: the part is the whole matrix.
    along: the axis that became the rows, if that is not the last one.
    row_sums: of the whole rows, where rows sum to one.
    """

    cells: list[list[Cell]]
    shape: list[int]
    at: list[int] = []
    origin: list[int] = msgspec.field(default_factory=lambda: [0, 0])
    whole: bool = True
    along: int | None = None
    row_sums: list[Cell] | None = None


class Evidence(msgspec.Struct):
    """What a failed check looked at.

    call: the call, such as "softmax(x, dim=0)".
    inputs: its tensors, each with name, shape, dtype and range.
    yours, expected: the numbers, cut to one window.
    wrong: for each number, whether it is wrong.
    masked: for each number, whether it has to be hidden.
    part: which tensor of a nested answer the numbers are, such as "[1]"; "" for the only one.
    gradient_of: the input whose gradient the numbers are; "" for the answer itself.
    returned: a description of what came back when it is not a tensor.
    expected_type: shape and dtype of a right answer, or the exception that was expected.
    raised: the exception, if one was raised.
    """

    call: str = ""
    inputs: list[str] = []
    yours: Grid | None = None
    expected: Grid | None = None
    wrong: list[list[bool]] | None = None
    masked: list[list[bool]] | None = None
    part: str = ""
    gradient_of: str = ""
    returned: str = ""
    expected_type: str = ""
    raised: Raised | None = None


class Check(msgspec.Struct):
    """One hidden test and its outcome.

    law: it counts only once the values of its function are right.
    rung: where on the ladder it stopped.
    reason: why it did not pass.
    output: what the code printed meanwhile.
    """

    name: str
    title: str
    outcome: CheckOutcome
    law: bool = False
    rung: Rung = ""
    reason: Reason | None = None
    seconds: float = 0.0
    evidence: Evidence | None = None
    output: str = ""


# What kind of answer a diagnosis is.
MISTAKE: Final = "mistake"
TWO_MISTAKES: Final = "two mistakes"
CONVENTION: Final = "another convention"
EARLIER_WORK: Final = "earlier work"
SYMPTOMS: Final = "symptoms"
NO_DIAGNOSIS: Final = "no diagnosis"

DiagnosisKind = Literal[
    "mistake", "two mistakes", "another convention", "earlier work", "symptoms", "no diagnosis"
]

# What of a picture a mistake shows in: its answers; its answers when there are several rows; its
# answers when scores are large; the gradient only; nothing that a picture draws.
Shows = Literal["answers", "rows", "overflow", "gradient", "nothing"]


class Cause(msgspec.Struct):
    """A known mistake, or another convention.

    id: the same from version to version.
    title: completes "your function ...".
    question: what a tutor would ask; for a convention, what the contract of the kata says.
    kind: a mistake or another convention.
    hint: the title of the level of hints.md that helps.
    level: its number; 0 if there is none.
    shows: what of a picture it shows in.
    """

    id: str
    title: str
    question: str = ""
    kind: Literal["mistake", "another convention"] = MISTAKE
    hint: str = ""
    level: int = 0
    shows: Shows = "answers"


class Fault(msgspec.Struct):
    """An exception of ours.

    type: its class; "" for one of this program's own, whose text says all.
    text: its message.
    """

    type: str
    text: str


class Diagnosis(msgspec.Struct):
    """What is behind the failure of one function, as far as the evidence goes.

    function: its name; "" for a fault that concerns no single one.
    causes: what explains every answer (two for `two mistakes`).
    symptoms: what is broken when no cause is known, and what the causes do not explain.
    blames: for `earlier work`, the functions or katas that are wrong.
    file: the file of the first of them.
    explained: how many answers the causes explain: all that were compared.
    call, at, yours, expected: the plainest of these answers, and one entry of it.
    undecided: ids that no question told apart; then there is no cause.
    fault: an exception of ours that ended the diagnosis.
    """

    function: str
    kind: DiagnosisKind
    causes: list[Cause] = []
    symptoms: list[Symptom] = []
    blames: list[str] = []
    file: str = ""
    explained: int = 0
    call: str = ""
    at: list[int] | None = None
    yours: Cell | None = None
    expected: Cell | None = None
    undecided: list[str] = []
    fault: Fault | None = None


Oddity = Literal[
    "c-library",
    "c-symbol",
    "c-call",
    "raw-memory",
    "object-search",
    "byte-code-load",
    "byte-code-make",
    "fork",
    "program",
    "signal",
    "socket",
    "tracing",
    "audit-hook",
    "torch-source",
    "process-lost",
]


class Notice(msgspec.Struct, frozen=True):
    """Something odd that the code did.

    code: what it was.
    detail: which file of torch was opened, or how the judging process ended; else "".
    """

    code: Oddity
    detail: str = ""


class Verdict(msgspec.Struct):
    """The judgement of one submission to one kata.

    reason: why there are no checks, or why it could not be graded; else the checks say why.
    next_step: what to do now, when it is not simply to change the file.
    raised: the exception that kept the file from loading.
    output: what the code printed.
    file: how the file is named to the learner.
    kata_version: hash of what decides a verdict.
    source_hash: hash of the code that was submitted.
    seed: decides all inputs.
    seconds: from submission to verdict.
    versions: of everything that judged.
    restrictions: that held the sandbox worker.
    audit: odd things that the code did, for a teacher to look at.
    """

    kata: str
    outcome: Outcome
    checks: list[Check] = []
    reason: Reason | None = None
    next_step: Step | None = None
    raised: Raised | None = None
    output: str = ""
    file: str = ""
    kata_version: str = ""
    source_hash: str = ""
    device: str = "cpu"
    seed: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = {}
    restrictions: list[str] = []
    audit: list[Notice] = []
    diagnoses: list[Diagnosis] = []

    @property
    def passed(self) -> int:
        return sum(check.outcome == PASSED for check in self.checks)

    @property
    def total(self) -> int:
        return len(self.checks)

    @property
    def own_file(self) -> str:
        """The file that the kata asks for, whatever the submission is called."""
        return f"{self.kata.replace('-', '_')}.py"

    @property
    def first_failure(self) -> Check | None:
        """The first check that neither passed nor merely waited for another one."""
        waiting = (PASSED, NOT_REACHED, NOT_VERIFIED)
        return next((check for check in self.checks if check.outcome not in waiting), None)

    @property
    def why(self) -> Reason | None:
        """Why it is not a pass: its own reason, else that of the first check that failed."""
        first = self.first_failure
        return self.reason if self.reason is not None else first.reason if first else None


def to_builtins(verdict: Verdict) -> dict[str, Any]:
    """The verdict as dicts, lists and plain values, to be encoded by another codec."""
    builtins: dict[str, Any] = msgspec.to_builtins(verdict)
    return builtins


def from_builtins(data: Any) -> Verdict:
    """The verdict that `to_builtins` took apart. Raises ValueError for anything else."""
    return msgspec.convert(data, Verdict)


def encode(verdict: Verdict) -> str:
    """The verdict as JSON, as it is stored and sent."""
    # Not msgspec.json: it refuses the lone surrogates that file names and messages may hold.
    return json.dumps(to_builtins(verdict), separators=(",", ":"))


def decode(text: str | bytes) -> Verdict:
    """The verdict that `encode` wrote. Raises ValueError for anything else."""
    return from_builtins(json.loads(text))


def exit_code(verdicts: Iterable[Verdict]) -> Literal[0, 1, 3]:
    """0 all passed; 1 judged and not passed; 3 could not grade, which beats 1."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if COULD_NOT_GRADE in outcomes:
        return 3
    return 0 if outcomes <= {PASSED} else 1
