"""What one run of a check came to."""

from __future__ import annotations

from dataclasses import dataclass

from attention_katas.errors import CouldNotGrade
from attention_katas.judge.failures import CheckFailed
from attention_katas.verdict import data
from attention_katas.verdict.data import Evidence


@dataclass
class CheckResult:
    """The outcome of a check. It holds no exception, so it can travel between processes.

    outcome: an outcome of `verdict.data`; COULD_NOT_GRADE for a fault of ours.
    message: why the check did not pass.
    next_step: a command that may help, for a fault of ours.
    rung: the rung of the ladder that does not hold.
    evidence: what the failure is shown by.
    printed: what the submission printed during the check.
    seconds: duration of setup, call and teardown together.
    complete: whether pytest has reported the last stage of the check.
    """

    outcome: str = data.PASSED
    message: str = ""
    next_step: str = ""
    rung: str = ""
    evidence: Evidence | None = None
    printed: str = ""
    seconds: float = 0.0
    complete: bool = False

    def fail(self, failure: CheckFailed) -> None:
        """Record that the answer is wrong."""
        self.outcome, self.message = failure.outcome, failure.message
        self.rung, self.evidence = failure.rung, failure.evidence

    def blame_us(self, error: CouldNotGrade) -> None:
        """Record a fault of ours. The first one stays."""
        if self.outcome != data.COULD_NOT_GRADE:
            self.outcome = data.COULD_NOT_GRADE
            self.message, self.next_step = error.message, error.next_step
