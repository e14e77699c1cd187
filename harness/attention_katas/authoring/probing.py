"""What the diagnosis of a kata asks: the decorators for a kata's probes.py.

    AXES = {"q": "T_q d_k", "k": "T_k d_k"}

    @probe("attention_scores")
    def all_sizes_equal(draw):
        return draw(4, 4, 4, 4), draw(4, 4, 4, 4)

    @symptom("attention_scores")
    def length_does_not_count(f, draw):
        q, k = draw(3, 5), draw(4, 5)
        if close(f(2 * q, k), f(q, k)):
            return "a query twice as long gets the same scores"

A probe gives the arguments of one question, or several questions to be asked one after the other.
A symptom asks the learner's function itself, and says in words which property is broken, with the
numbers that it measured; it gives nothing when the property holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
PROBE, SYMPTOM = "__kata_probe__", "__kata_symptom__"


@dataclass(frozen=True)
class Question:
    """One call. tolerance: for inputs far from unit spread, as for `agree`."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    gradients: bool = False


def ask(
    *args: Any, tolerance: float | None = None, gradients: bool = False, **kwargs: Any
) -> Question:
    """A question with keyword arguments, a tolerance, or whose gradients are wanted too."""
    return Question(args, kwargs, tolerance, gradients)


def probe(of: str) -> Callable[[Function], Function]:
    """Marks a probe of the kata's function `of`."""
    return _marker(PROBE, of)


def symptom(of: str) -> Callable[[Function], Function]:
    """Marks a measurement of the kata's function `of`."""
    return _marker(SYMPTOM, of)


def _marker(attribute: str, of: str) -> Callable[[Function], Function]:
    def mark(function: Function) -> Function:
        setattr(function, attribute, of)
        return function

    return mark


def marked(module: ModuleType, attribute: str, of: str) -> list[Callable[..., Any]]:
    """The probes or symptoms of one function, in order."""
    return [value for value in vars(module).values() if getattr(value, attribute, None) == of]


def questions(asked: Any) -> list[Question]:
    """What a probe gave, as a list of questions."""
    if isinstance(asked, Question):
        return [asked]
    if isinstance(asked, list):
        return [question for item in asked for question in questions(item)]
    return [Question(tuple(asked) if isinstance(asked, tuple) else (asked,))]


def is_fixed(measure: Callable[..., Any], text: str) -> bool:
    """Whether the sentence stands in the code of the symptom as it is.

    Then it holds no number that the learner's function returned.
    """
    return text in measure.__code__.co_consts


def close(one: Any, other: Any, allowed: float = 1e-4) -> bool:
    """Whether two tensors of any shape agree in every entry; NaN agrees with NaN."""
    if one.shape != other.shape:
        return False
    near = (one - other).abs() <= allowed * (1 + other.abs())
    return bool((near | (one.isnan() & other.isnan())).all())


def broken(tensor: Any) -> str:
    """How many entries of a tensor of any shape are not finite, such as "3 of 9"; "" for none."""
    odd = int((~tensor.isfinite()).sum())
    return f"{odd} of {tensor.numel()}" if odd else ""


def furthest(one: Any, other: Any) -> tuple[list[int], float, float]:
    """Where two tensors of one shape are furthest apart, and their numbers there.

    Raises ArithmeticError when one of these is NaN or infinite: `broken` reports that.
    """
    gap = (one - other).abs().nan_to_num(nan=float("inf"))
    index = (gap == gap.max()).nonzero()[0].tolist()
    pair = float(one[tuple(index)]), float(other[tuple(index)])
    if not all(map(math.isfinite, pair)):
        raise ArithmeticError("one of the numbers is not finite")
    return index, *pair
