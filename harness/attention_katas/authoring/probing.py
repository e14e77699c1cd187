"""Decorators for probes.py of a kata: the calls that its diagnosis makes.

    AXES = {"q": "T_q d_k", "k": "T_k d_k"}

    @probe("attention_scores")
    def all_sizes_equal(draw):
        return draw(4, 4, 4, 4), draw(4, 4, 4, 4)

    @symptom("attention_scores", values=False)
    def length_does_not_count(f, draw):
        q, k = draw(3, 5), draw(4, 5)
        if close(f(2 * q, k), f(q, k)):
            return "doubling the queries does not change the scores"

A probe returns the arguments of one call, or a list of calls made in order. A symptom calls the
learner's function `f` and returns a sentence with the violated property and the measured numbers,
or None when the property holds. values=False promises that its sentences hold no such number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
PROBE, SYMPTOM, VALUES = "__kata_probe__", "__kata_symptom__", "__kata_values__"


@dataclass(frozen=True)
class Question:
    """One call of the learner's function.

    args, kwargs: its arguments.
    tolerance: for inputs far from unit spread, as for `agree`.
    gradients: whether gradients of the arguments are compared too.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    gradients: bool = False


def ask(
    *args: Any, tolerance: float | None = None, gradients: bool = False, **kwargs: Any
) -> Question:
    """A call with keyword arguments, a tolerance, or gradients."""
    return Question(args, kwargs, tolerance, gradients)


def probe(of: str) -> Callable[[Function], Function]:
    """Mark a probe of the kata's function `of`."""
    return _marker(PROBE, of)


def symptom(of: str, *, values: bool = True) -> Callable[[Function], Function]:
    """Mark a symptom of the kata's function `of`.

    values: its sentence may hold numbers that the learner's function returned. Students whose
        feedback names no inputs do not see it then.
    """

    def mark(function: Function) -> Function:
        setattr(function, VALUES, values)
        return _marker(SYMPTOM, of)(function)

    return mark


def _marker(attribute: str, of: str) -> Callable[[Function], Function]:
    def mark(function: Function) -> Function:
        setattr(function, attribute, of)
        return function

    return mark


def marked(module: ModuleType, attribute: str, of: str) -> list[Callable[..., Any]]:
    """The probes or symptoms of one function, in order."""
    return [value for value in vars(module).values() if getattr(value, attribute, None) == of]


def questions(asked: Any) -> list[Question]:
    """The result of a probe as a list of calls."""
    if isinstance(asked, Question):
        return [asked]
    if isinstance(asked, list):
        return [question for item in asked for question in questions(item)]
    return [Question(tuple(asked) if isinstance(asked, tuple) else (asked,))]


def has_values(measure: Callable[..., Any]) -> bool:
    """Whether the sentences of a symptom may hold numbers that the learner's function returned."""
    return getattr(measure, VALUES, True) is not False


def close(first: Any, second: Any, allowed: float = 1e-4) -> bool:
    """Whether two tensors have the same shape and agree in every entry; NaN agrees with NaN."""
    if first.shape != second.shape:
        return False
    near = (first - second).abs() <= allowed * (1 + second.abs())
    return bool((near | (first.isnan() & second.isnan())).all())


def broken(tensor: Any) -> str:
    """How many entries of a tensor of any shape are not finite, such as "3 of 9"; "" for none."""
    count = int((~tensor.isfinite()).sum())
    return f"{count} of {tensor.numel()}" if count else ""


def furthest(first: Any, second: Any) -> tuple[list[int], float, float]:
    """Where two tensors of one shape are furthest apart, and their numbers there.

    Raises ArithmeticError when one of these is NaN or infinite: `broken` reports that.
    """
    gap = (first - second).abs().nan_to_num(nan=float("inf"))
    index = (gap == gap.max()).nonzero()[0].tolist()
    pair = float(first[tuple(index)]), float(second[tuple(index)])
    if not all(map(math.isfinite, pair)):
        raise ArithmeticError("one of the numbers is not finite")
    return index, *pair
