"""Panel 5: attention of a sentence to itself, and to another sentence."""

from __future__ import annotations

from typing import Any

import torch

from attention_katas.lab import examples
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.step import Step


def answer(live: LearnerFunctions, _: dict[str, Any]) -> dict[str, Any]:
    """The weights (2, T_q, T_k) of both heads, read from the outputs; see examples.Wiring."""
    layers = examples.wiring()
    own = live.step("multi_head_attention", (layers.x, layers.own, 2))
    cross = live.step("cross_attention", (layers.x, layers.context, layers.cross, 2))
    return {
        "self": _by_head(own, len(examples.TARGET)).as_json(),
        "cross": _by_head(cross, len(examples.SOURCE)).as_json(),
    }


def _by_head(step: Step, keys: int) -> Step:
    """The step with its answers (1, T, 16) reshaped to weights (2, T, keys)."""

    def weights(answer: torch.Tensor) -> torch.Tensor:
        return answer[0].reshape(-1, 2, 8)[:, :, :keys].transpose(0, 1)

    step.right, step.alone = weights(step.right), weights(step.alone)
    if step.answer is not None:
        step.answer = weights(step.answer)
    return step
