"""Panel 6: multiply-adds counted; time and memory of the learner's code measured."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from attention_katas.lab import json_numbers
from attention_katas.lab.functions import MEASURE_SECONDS, LearnerFunctions
from attention_katas.lab.panels import params as ask

WIDTH, LENGTH = 256, 192
HEADS = (1, 2, 4, 8, 16)
D_K = 64
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
LEAST, MOST, SECONDS = 6, 60, 0.9  # rounds of one measurement, and seconds for all of them
SETTLED = 1.03  # the best time stands when the last rounds beat it by less than this factor
APART = 1.2  # if the two differ by more than this factor, they are measured until the time is over
SCATTERED = 1.6  # if the median is this many times the best, the machine is busy


def answer(live: LearnerFunctions, asked: dict[str, Any]) -> dict[str, Any]:
    """One point of a curve.

    asked: "what" is "heads" (with heads) or "length" (with n).
    """
    if ask.one_of(asked, "what", ("heads", "length")) == "heads":
        return _heads(live, ask.one_of(asked, "heads", HEADS))
    return _length(live, ask.one_of(asked, "n", LENGTHS))


def multiply_adds(length: int, width: int, heads: int) -> dict[str, int]:
    """Multiply-adds of multi-head attention without a mask: four projections, scores, blend."""
    size = width // heads
    return {
        "projections": 4 * length * width * width,
        "scores": heads * length * length * size,
        "blend": heads * length * length * size,
    }


def many_heads(heads: int) -> tuple[Any, ...]:
    """Arguments of multi_head_attention: x (1, 192, 256), weights in nn.Linear layout, heads."""
    draw = _drawing(heads)
    weights = {f"w_{name}": draw(WIDTH, WIDTH) / WIDTH**0.5 for name in "qkvo"}
    weights |= {f"b_{name}": draw(WIDTH) for name in "qkvo"}
    return draw(1, LENGTH, WIDTH), weights, heads


def one_head(length: int) -> tuple[Any, ...]:
    """Arguments of scaled_dot_product_attention: q, k, v (1, 1, n, 64)."""
    draw = _drawing(length)
    return tuple(draw(1, 1, length, D_K) for _ in "qkv")


def _drawing(seed: int) -> Callable[..., torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(*shape, generator=generator)


def matrix_mb(length: int) -> float:
    """Megabytes of a score matrix (length, length) in float32."""
    return 4 * length * length / 1e6


def timed(function: Callable[..., Any], inputs: tuple[Any, ...]) -> float:
    """Milliseconds of one call in this process: the best of several, without the first."""
    function(*inputs)
    spent = []
    for _ in range(LEAST):
        started = time.perf_counter()
        function(*inputs)
        spent.append(1000 * (time.perf_counter() - started))
    return min(spent)


def _heads(live: LearnerFunctions, heads: int) -> dict[str, Any]:
    return {
        **_measure(live, "multi_head_attention", many_heads(heads), many_heads(1)),
        "heads": heads,
        "multiply_adds": multiply_adds(LENGTH, WIDTH, heads),
    }


def _length(live: LearnerFunctions, length: int) -> dict[str, Any]:
    small = one_head(LENGTHS[0] // 4)
    found = _measure(live, "scaled_dot_product_attention", one_head(length), small)
    return {**found, "n": length, "matrix_mb": matrix_mb(length)}


def _measure(
    live: LearnerFunctions, function: str, inputs: tuple[Any, ...], small: tuple[Any, ...]
) -> dict[str, Any]:
    """The best time of your code and of the reference in ms, and the peak memory of yours in MB.

    Both run in fresh processes of the same kind and alternate, so that other load on the machine
    affects both. small: arguments of the call that warms up a process before its memory is read.
    """
    other = live.duplicate()
    for each in (live, other):
        each.renew(function)
        each.step(function, small, seconds=MEASURE_SECONDS)
    before = live.peak(function)
    step = live.step(function, inputs, seconds=MEASURE_SECONDS)
    # After one call: later calls add fragments of the allocator.
    memory = live.peak(function) - before if step.answer is not None and before else 0
    answered = other.step(function, inputs, seconds=MEASURE_SECONDS).answer is not None
    mine, theirs = _alternating(
        live if step.answer is not None else None, other if answered else None, function, inputs
    )
    if not theirs:
        theirs = [timed(getattr(live.home(function).reference, function), inputs)]
    # The result is too large for the page.
    agrees = step.answer is not None and json_numbers.near(step.answer, step.right)
    step.right = step.alone = torch.zeros(0)
    step.answer = None if step.answer is None else step.right
    return {
        "step": {**step.as_json(), "agrees": agrees, "alone": agrees},
        "yours_ms": min(mine, default=None),
        "right_ms": min(theirs),
        "yours_mb": memory / 1e6 if memory else None,
        "scatters": any(scatters(each) for each in (mine, theirs)),
    }


def _alternating(
    live: LearnerFunctions | None,
    duplicate: LearnerFunctions | None,
    function: str,
    inputs: tuple[Any, ...],
) -> tuple[list[float], list[float]]:
    """Milliseconds of both, alternating, until the best times stand or the time is over."""
    spent: tuple[list[float], list[float]] = ([], [])
    until = time.monotonic() + SECONDS
    for turn in range(MOST):
        for each, list_ in zip((live, duplicate), spent, strict=True):
            seconds = each.clock(function, inputs, MEASURE_SECONDS) if each is not None else None
            if seconds is not None:
                list_.append(1000 * seconds)
        if turn + 1 < LEAST:
            continue
        best = [min(each) for each in spent if each]
        stands = all(map(settled, spent)) and (not best or max(best) <= APART * min(best))
        if stands or time.monotonic() > until:
            break
    return spent


def settled(spent: Sequence[float]) -> bool:
    """Whether the second half of the rounds did not improve the best time."""
    return len(spent) < LEAST or min(spent[: len(spent) // 2]) <= SETTLED * min(spent)


def scatters(spent: Sequence[float]) -> bool:
    """Whether the times differ so much that the machine was busy."""
    return len(spent) >= LEAST and statistics.median(spent) > SCATTERED * min(spent)
