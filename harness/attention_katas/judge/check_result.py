"""What one run of a check came to."""

from __future__ import annotations

from dataclasses import dataclass

from attention_katas.errors import CouldNotGrade
from attention_katas.judge.failures import CheckFailed
from attention_katas.verdict import data as v
from attention_katas.verdict.reasons import Reason


@dataclass
class CheckResult:
    """The outcome of a check.

    outcome: of the check, when the fault is not ours.
    reason: why the check did not pass.
    rung: the rung of the ladder that does not hold.
    evidence: the call, and numbers to look at.
    printed: what the submission printed during the check.
    seconds: duration of setup, call and teardown together.
    complete: whether pytest has reported the last stage of the check.
    error: a fault of ours; there is no outcome then.
    """

    outcome: v.CheckOutcome = v.PASSED
    reason: Reason | None = None
    rung: v.Rung = ""
    evidence: v.Evidence | None = None
    printed: str = ""
    seconds: float = 0.0
    complete: bool = False
    error: CouldNotGrade | None = None

    @property
    def passed(self) -> bool:
        return self.outcome == v.PASSED and self.error is None

    def fail(self, failure: CheckFailed) -> None:
        """Record that the answer is wrong."""
        self.outcome, self.reason = failure.outcome, failure.reason
        self.rung, self.evidence = failure.rung, failure.evidence

    def blame_us(self, error: CouldNotGrade) -> None:
        """Record a fault of ours. The first one stays."""
        self.error = self.error or error
