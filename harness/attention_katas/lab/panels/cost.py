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
    durations = []
    for _ in range(LEAST):
        started = time.perf_counter()
        function(*inputs)
        durations.append(1000 * (time.perf_counter() - started))
    return min(durations)


def _heads(live: LearnerFunctions, heads: int) -> dict[str, Any]:
    return {
        **_measure(live, "multi_head_attention", many_heads(heads), many_heads(1)),
        "heads": heads,
        "multiply_adds": multiply_adds(LENGTH, WIDTH, heads),
    }


def _length(live: LearnerFunctions, length: int) -> dict[str, Any]:
    small = one_head(LENGTHS[0] // 4)
    measurement = _measure(live, "scaled_dot_product_attention", one_head(length), small)
    return {**measurement, "n": length, "matrix_mb": matrix_mb(length)}


def _measure(
    live: LearnerFunctions, function: str, inputs: tuple[Any, ...], small: tuple[Any, ...]
) -> dict[str, Any]:
    """The best time of your code and of the reference in ms, and the peak memory of yours in MB.

    Both run in fresh processes of the same kind and alternate, so that other load on the machine
    affects both. small: arguments of the call that warms up a process before its memory is read.
    """
    duplicate_functions = live.duplicate()
    for functions in (live, duplicate_functions):
        functions.renew(function)
        functions.step(function, small, seconds=MEASURE_SECONDS)
    before = live.peak(function)
    step = live.step(function, inputs, seconds=MEASURE_SECONDS)
    # After one call: later calls add fragments of the allocator.
    memory = live.peak(function) - before if step.answer is not None and before else 0
    duplicate_works = (
        duplicate_functions.step(function, inputs, seconds=MEASURE_SECONDS).answer is not None
    )
    own_ms, reference_ms = _alternating(
        live if step.answer is not None else None,
        duplicate_functions if duplicate_works else None,
        function,
        inputs,
    )
    if not reference_ms:
        reference_ms = [timed(getattr(live.home(function).reference, function), inputs)]
    # The result is too large for the page.
    agrees = step.answer is not None and json_numbers.near(step.answer, step.right)
    step.right = step.alone = torch.zeros(0)
    step.answer = None if step.answer is None else step.right
    return {
        "step": {**step.as_json(), "agrees": agrees, "alone": agrees},
        "yours_ms": min(own_ms, default=None),
        "right_ms": min(reference_ms),
        "yours_mb": memory / 1e6 if memory else None,
        "scatters": scatters(own_ms) or scatters(reference_ms),
    }


def _alternating(
    live: LearnerFunctions | None,
    duplicate: LearnerFunctions | None,
    function: str,
    inputs: tuple[Any, ...],
) -> tuple[list[float], list[float]]:
    """Milliseconds of both, alternating, until the best times stand or the time is over."""
    durations: tuple[list[float], list[float]] = ([], [])
    until = time.monotonic() + SECONDS
    for turn in range(MOST):
        for functions, times in zip((live, duplicate), durations, strict=True):
            seconds = (
                functions.clock(function, inputs, MEASURE_SECONDS)
                if functions is not None
                else None
            )
            if seconds is not None:
                times.append(1000 * seconds)
        if turn + 1 < LEAST:
            continue
        best = [min(times) for times in durations if times]
        stands = all(map(settled, durations)) and (not best or max(best) <= APART * min(best))
        if stands or time.monotonic() > until:
            break
    return durations


def settled(durations: Sequence[float]) -> bool:
    """Whether the second half of the rounds did not improve the best time."""
    return len(durations) < LEAST or min(durations[: len(durations) // 2]) <= SETTLED * min(
        durations
    )


def scatters(durations: Sequence[float]) -> bool:
    """Whether the times differ so much that the machine was busy."""
    return len(durations) >= LEAST and statistics.median(durations) > SCATTERED * min(durations)
