"""The same operation, wired in two ways: a sentence reads itself, or it reads another one."""

from __future__ import annotations

from typing import Any

import torch

from attention_katas.lab import examples
from attention_katas.lab.functions import LiveFunctions, Step


def answer(live: LiveFunctions, _: dict[str, Any]) -> dict[str, Any]:
    """The weights of both heads, as the learner's layers tell them. See scene.Wiring."""
    layers = examples.wiring()
    own = live.step("multi_head_attention", (layers.x, layers.own, 2))
    cross = live.step("cross_attention", (layers.x, layers.context, layers.cross, 2))
    return {
        "self": _by_head(own, len(examples.TARGET)).shown(),
        "cross": _by_head(cross, len(examples.SOURCE)).shown(),
    }


def _by_head(step: Step, keys: int) -> Step:
    """An answer (1, T, 16) as weights (2, T, keys)."""

    def weights(answer: torch.Tensor) -> torch.Tensor:
        return answer[0].reshape(-1, 2, 8)[:, :, :keys].transpose(0, 1)

    step.right, step.alone = weights(step.right), weights(step.alone)
    if step.yours is not None:
        step.yours = weights(step.yours)
    return step
