"""Panel 2: softmax for wider and wider vectors, with and without division by sqrt(d_k)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attention_katas.lab import examples
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels.lookup import figures, softmax
from attention_katas.lab.step import Step


def answer(live: LearnerFunctions, _: dict[str, Any]) -> dict[str, Any]:
    """For each d_k the means over scores (32, 16) of random vectors with unit spread.

    The entry "steps" of the result: for each function, the state of all these calls together.
    """
    curves: dict[str, list[Any]] = {"raw": [], "divided": []}
    steps_of: dict[str, list[Step]] = {}
    for name, function in (("raw", "attention_scores"), ("divided", "scaled_scores")):
        for width in examples.WIDTHS:
            scores = live.step(function, examples.random_vectors(width))
            weights = softmax(live, scores)
            for step in (scores, weights):
                steps_of.setdefault(step.function, []).append(step)
            curves[name].append({"d_k": width, **figures(scores, weights)})
    return {"curves": curves, "steps": {name: together(call) for name, call in steps_of.items()}}


def together(steps: Sequence[Step]) -> dict[str, Any]:
    """The state of several calls of one function: that of the first that failed, if any did."""
    failed = (call for call in steps if call.answer is None or call.backward)
    step = min(failed, key=lambda call: call.answer is not None, default=steps[0])
    summary: dict[str, Any] = {**step.words(), "right": []}
    if step.answer is not None:
        answers = [call.answer for call in steps if call.answer is not None]
        summary["yours"] = []
        summary["agrees"] = all(call.agrees for call in steps)
        summary["alone"] = all(call.is_right_alone for call in steps)
        summary["cells"] = sum(answer.numel() for answer in answers)
        summary["nan"] = sum(int(answer.isnan().sum()) for answer in answers)
        summary["inf"] = sum(int(answer.isinf().sum()) for answer in answers)
        summary["finite"] = not summary["nan"] and not summary["inf"]
        summary["gradient"] = all(
            call.gradient is not None for call in steps if call.right_gradient is not None
        )
    return summary
