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
    taken: dict[str, list[Step]] = {}
    for name, function in (("raw", "attention_scores"), ("divided", "scaled_scores")):
        for width in examples.WIDTHS:
            scores = live.step(function, examples.random_vectors(width))
            weights = softmax(live, scores)
            for step in (scores, weights):
                taken.setdefault(step.function, []).append(step)
            curves[name].append({"d_k": width, **figures(scores, weights)})
    return {"curves": curves, "steps": {name: together(each) for name, each in taken.items()}}


def together(steps: Sequence[Step]) -> dict[str, Any]:
    """The state of several calls of one function: that of the first that failed, if any did."""
    failed = (each for each in steps if each.answer is None or each.backward)
    step = min(failed, key=lambda each: each.answer is not None, default=steps[0])
    told: dict[str, Any] = {**step.words(), "right": []}
    if step.answer is not None:
        answers = [each.answer for each in steps if each.answer is not None]
        told["yours"] = []
        told["agrees"] = all(each.agrees for each in steps)
        told["alone"] = all(each.is_right_alone for each in steps)
        told["cells"] = sum(answer.numel() for answer in answers)
        told["nan"] = sum(int(answer.isnan().sum()) for answer in answers)
        told["inf"] = sum(int(answer.isinf().sum()) for answer in answers)
        told["finite"] = not told["nan"] and not told["inf"]
        told["gradient"] = all(
            each.gradient is not None for each in steps if each.right_gradient is not None
        )
    return told
