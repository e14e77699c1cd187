"""How a check ends when it does not pass.

CheckFailed           the learner's answer is wrong; carries the reason, the rung and the evidence
+-- NotWritten        the function is still the stub
+-- NotReached        nothing was asked: an earlier answer makes it pointless
+-- NotVerified       this machine cannot decide it
+-- TimedOut, OutOfMemory, Crashed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from attention_katas.verdict import data, words
from attention_katas.verdict.data import CheckOutcome, Evidence, Rung
from attention_katas.verdict.reasons import Reason


class CheckFailed(AssertionError):
    """A rung of the ladder does not hold.

    reason: why.
    rung: which one.
    evidence: the call, and numbers to look at.
    kinds: the names of the classes of the exception that was raised, if one was.
    missing: the module that could not be imported, if that is what was raised.
    mismatch: tensors of two devices met, on the fake device.
    """

    outcome: ClassVar[CheckOutcome] = data.FAILED
    kinds: Sequence[str] = ()
    missing: str = ""
    mismatch: bool = False

    def __init__(self, reason: Reason, rung: Rung = "", evidence: Evidence | None = None) -> None:
        super().__init__(words.reason(reason))
        self.reason = reason
        self.rung: Rung = rung
        self.evidence = evidence

    @property
    def raised(self) -> data.Raised | None:
        """The exception behind the failure, if one was raised."""
        return self.evidence.raised if self.evidence else None


class NotWritten(CheckFailed):
    outcome = data.NOT_WRITTEN


class NotReached(CheckFailed):
    outcome = data.NOT_REACHED


class NotVerified(CheckFailed):
    outcome = data.NOT_VERIFIED


class TimedOut(CheckFailed):
    outcome = data.TIMED_OUT


class OutOfMemory(CheckFailed):
    outcome = data.OUT_OF_MEMORY


class Crashed(CheckFailed):
    outcome = data.CRASHED
