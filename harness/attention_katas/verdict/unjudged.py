"""A fault of ours that ends a judgement, with the fact that says which."""

from __future__ import annotations

from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.verdict import reasons, steps, words


class Unjudged(CouldNotGrade):
    """The submission was not judged.

    reason: why.
    step: what to do now.
    """

    def __init__(self, reason: reasons.Reason, step: steps.Step | None = None) -> None:
        super().__init__(words.reason(reason), words.step(step))
        self.reason, self.step = reason, step


def facts(error: KataError) -> tuple[reasons.Reason, steps.Step]:
    """Reason and next step for a verdict that this error prevented."""
    if isinstance(error, Unjudged):
        return error.reason, error.step or steps.Doctor()
    step = steps.Advice(error.next_step) if error.next_step else steps.Doctor()
    return reasons.CannotJudge(error.message), step
