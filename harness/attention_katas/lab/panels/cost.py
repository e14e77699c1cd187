"""What attention costs: multiply-adds counted, time and memory measured on the learner's code."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from attention_katas.lab import json_numbers
from attention_katas.lab.functions import MEASURE_SECONDS, LiveFunctions
from attention_katas.lab.panels import params as ask

WIDTH, LENGTH = 256, 192
HEADS = (1, 2, 4, 8, 16)
D_K = 64
LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096)
LEAST, MOST, SECONDS = 6, 60, 0.9  # rounds of one measurement, and what all of them may take
SETTLED = 1.03  # a best that the last rounds have not beaten by more stands
APART = 1.2  # so far apart, the two are measured as long as there is time
SCATTERED = 1.6  # times the best, at which the middle one says that the machine is busy


def answer(live: LiveFunctions, asked: dict[str, Any]) -> dict[str, Any]:
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


def many_heads(heads: int) -> tuple[Any, ...]:
    """Arguments of multi_head_attention."""
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
    """What the scores alone take, in float32."""
    return 4 * length * length / 1e6


def timed(function: Callable[..., Any], inputs: tuple[Any, ...]) -> float:
    """Milliseconds of one call in this process: the best of some, the first left out."""
    function(*inputs)
    spent = []
    for _ in range(LEAST):
        started = time.perf_counter()
        function(*inputs)
        spent.append(1000 * (time.perf_counter() - started))
    return min(spent)


def _heads(live: LiveFunctions, heads: int) -> dict[str, Any]:
    return {
        **_measure(live, "multi_head_attention", many_heads(heads), many_heads(1)),
        "heads": heads,
        "multiply_adds": multiply_adds(LENGTH, WIDTH, heads),
    }


def _length(live: LiveFunctions, length: int) -> dict[str, Any]:
    small = one_head(LENGTHS[0] // 4)
    found = _measure(live, "scaled_dot_product_attention", one_head(length), small)
    return {**found, "n": length, "matrix_mb": matrix_mb(length)}


def _measure(
    live: LiveFunctions, function: str, inputs: tuple[Any, ...], small: tuple[Any, ...]
) -> dict[str, Any]:
    """The best time in ms, yours and the reference's, and your megabytes on top at the peak.

    Both run in a fresh process of the same kind and take turns, so that whatever else the machine
    does falls on both. small: what a process is warmed up with before its memory is looked at.
    """
    other = live.duplicate()
    for each in (live, other):
        each.renew(function)
        each.step(function, small, seconds=MEASURE_SECONDS)
    before = live.peak(function)
    step = live.step(function, inputs, seconds=MEASURE_SECONDS)
    # After one call: what later ones leave in pieces is the allocator's doing.
    memory = live.peak(function) - before if step.yours is not None and before else 0
    answered = other.step(function, inputs, seconds=MEASURE_SECONDS).yours is not None
    mine, theirs = _alternating(
        live if step.yours is not None else None, other if answered else None, function, inputs
    )
    if not theirs:
        theirs = [timed(getattr(live.home(function).reference, function), inputs)]
    # What was computed is too much to be sent.
    agrees = step.yours is not None and json_numbers.near(step.yours, step.right)
    step.right = step.alone = torch.zeros(0)
    step.yours = None if step.yours is None else step.right
    return {
        "step": {**step.shown(), "agrees": agrees, "alone": agrees},
        "yours_ms": min(mine, default=None),
        "right_ms": min(theirs),
        "yours_mb": memory / 1e6 if memory else None,
        "scatters": any(scatters(each) for each in (mine, theirs)),
    }


def _alternating(
    live: LiveFunctions | None,
    duplicate: LiveFunctions | None,
    function: str,
    inputs: tuple[Any, ...],
) -> tuple[list[float], list[float]]:
    """Milliseconds of both, by turns, until the best ones stand or the time is over."""
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
    """The second half of the rounds has brought nothing new."""
    return len(spent) < LEAST or min(spent[: len(spent) // 2]) <= SETTLED * min(spent)


def scatters(spent: Sequence[float]) -> bool:
    """The machine was busy with something else."""
    return len(spent) >= LEAST and statistics.median(spent) > SCATTERED * min(spent)
