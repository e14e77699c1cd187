"""How a check ends when it does not pass.

CheckFailed           the learner's answer is wrong; carries the rung and the evidence
+-- NotWritten        the function is still the stub
+-- NotReached        nothing was asked: an earlier answer makes it pointless
+-- NotVerified       this cannot be told here, for or against
+-- TimedOut, OutOfMemory, Crashed
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_katas.verdict import data
from attention_katas.verdict.data import Evidence


class CheckFailed(AssertionError):
    """A rung of the ladder does not hold.

    kinds: the names of the classes of the exception that was raised, if one was.
    """

    outcome = data.FAILED
    kinds: Sequence[str] = ()

    def __init__(self, message: str, rung: str = "", evidence: Evidence | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.rung = rung
        self.evidence = evidence


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
