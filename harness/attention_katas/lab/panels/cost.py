"""What attention costs: multiply-adds counted, time and memory measured on the learner's code."""

from __future__ import annotations

import time
from typing import Any

import torch

from attention_katas.lab.live import Live, Step
from attention_katas.lab.panels import asked as ask

WIDTH, LENGTH = 256, 192
HEADS = (1, 2, 4, 8, 16)
D_K = 64
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
TIMES = 3


def answer(live: Live, asked: dict[str, Any]) -> dict[str, Any]:
    """asked: what is "heads" and heads, or "length" and n. One point of a curve."""
    if ask.one_of(asked, "what", ("heads", "length")) == "heads":
        return _heads(live, ask.one_of(asked, "heads", HEADS))
    return _length(live, ask.one_of(asked, "n", LENGTHS))


def multiply_adds(length: int, width: int, heads: int) -> dict[str, int]:
    """Of multi-head attention without a mask: four projections, scores, blend."""
    size = width // heads
    return {
        "projections": 4 * length * width * width,
        "scores": heads * length * length * size,
        "blend": heads * length * length * size,
    }


def _heads(live: Live, heads: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(heads)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    weights = {f"w_{name}": draw(WIDTH, WIDTH) / WIDTH**0.5 for name in "qkvo"}
    weights |= {f"b_{name}": draw(WIDTH) for name in "qkvo"}
    inputs = (draw(1, LENGTH, WIDTH), weights, heads)
    step, mine, theirs, _ = _measure(live, "multi_head_attention", inputs)
    return {
        **_told(step),
        "heads": heads,
        "yours_ms": mine,
        "right_ms": theirs,
        "multiply_adds": multiply_adds(LENGTH, WIDTH, heads),
        "matrices": heads * LENGTH * LENGTH,
    }


def _length(live: Live, length: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(length)
    q, k, v = (torch.randn(1, 1, length, D_K, generator=generator) for _ in "qkv")
    step, mine, theirs, memory = _measure(live, "scaled_dot_product_attention", (q, k, v))
    return {
        **_told(step),
        "n": length,
        "yours_ms": mine,
        "right_ms": theirs,
        "yours_mb": memory / 1e6 if memory else None,
        "matrix_mb": 4 * length * length / 1e6,
    }


def _measure(
    live: Live, function: str, inputs: tuple[Any, ...]
) -> tuple[Step, float | None, float, int]:
    """The last step, the best time in ms, the reference's, and bytes on top at the peak."""
    live.renew(function)
    live.load(function)
    before = live.peak(function)
    mine, theirs = [], []
    reference = getattr(live.home(function).reference, function)
    for _ in range(TIMES):
        step = live.step(function, inputs)
        if step.yours is None:
            break
        mine.append(1000 * step.seconds)
    memory = live.peak(function) - before if step.yours is not None and before else 0
    for _ in range(TIMES):
        started = time.perf_counter()
        reference(*inputs)
        theirs.append(1000 * (time.perf_counter() - started))
    return step, min(mine, default=None), min(theirs), memory


def _told(step: Step) -> dict[str, Any]:
    """All of a step but the numbers, which are too many to be sent."""
    step.right = step.alone = torch.zeros(0)
    if step.yours is not None:
        step.yours = step.right
    return {"step": step.shown()}
