"""What a diagnosis saw: a sentence for each symptom."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from attention_katas.verdict import symptoms as s
from attention_katas.verdict.words.numbers import listing, shape

PITFALLS = {
    "max returns a pair": (
        "x.max(dim) returns two tensors, the values and their indices; x.max(dim).values and "
        "x.amax(dim) are the values alone"
    ),
    "number, not tensor": (
        "torch.sqrt and torch.exp take tensors; for a plain number use math.sqrt or ** 0.5"
    ),
    "name of a weight": "the dict of weights has w_q, b_q, w_k, b_k, w_v, b_v, w_o and b_o",
    "view after transpose": (
        "a view cannot merge axes that are not adjacent in memory, as after a transpose; "
        "reshape copies where that is needed"
    ),
    "half overflows": (
        "the number does not fit half precision (float16 ends at 65504); -inf fits every dtype, "
        "and so does torch.finfo(x.dtype).min"
    ),
    "two dtypes": (
        "an operation got tensors of two dtypes; a tensor that you make needs the dtype of the "
        "inputs"
    ),
    "in-place and gradients": (
        "a tensor that the backward pass needs was overwritten in place; "
        "write `x = x * 2`, not `x *= 2`, for what has a gradient"
    ),
    "t of more than two axes": (
        ".t() is for matrices (F.linear applies it to its weight); for the last two axes of any "
        "tensor use .transpose(-2, -1)"
    ),
    "mask not bool": "masked_fill and where take a mask of dtype bool, not of numbers",
    "not of numbers": "~ negates bool tensors, not numbers; which dtype has your mask?",
    "one truth value": (
        "`if`, `and`, `or` and `not` take one truth value; for each entry use & | ~"
    ),
}


def symptom(fact: s.Symptom) -> str:
    """The sentence for a symptom."""
    return SENTENCES[type(fact)](fact)


def _size(size: s.Size) -> str:
    """`5 (T_k)`"""
    return f"{size.size} ({size.axis})" if size.axis else str(size.size)


def _also_wrong(fact: s.AlsoWrong) -> str:
    verb, them = ("is", "that") if len(fact.functions) == 1 else ("are", "those")
    return f"{listing(fact.functions)} {verb} wrong as well; fix {them} first"


def _inner(fact: s.InnerSizesDiffer) -> str:
    return (
        "a matrix product sums over the last axis of its left operand and the second-to-last axis "
        "of its right one, so these two must be equal; "
        f"here they are {_size(fact.left)} and {_size(fact.right)}"
    )


def _batch(fact: s.BatchSizesDiffer) -> str:
    return (
        "the axes before the last two are batch axes and must match; "
        f"here they are {fact.left} on the left and {fact.right} on the right"
    )


def _broadcast(fact: s.BroadcastSizesDiffer) -> str:
    return (
        f"Broadcasting lined up an axis of size {_size(fact.left)} with one of size "
        f"{_size(fact.right)} (axis {fact.axis}). Which axes did you mean to line up?"
    )


def _einsum(fact: s.EinsumSizesDiffer) -> str:
    return (
        f"in the einsum the letter {fact.letter} stands for two axes of different size, "
        f"{_size(fact.left)} and {_size(fact.right)}; different axes need different letters"
    )


def _einsum_axes(fact: s.EinsumAxes) -> str:
    return (
        f"the einsum names {fact.named} axes of an operand that has {fact.actual}; "
        "'...' stands for any number of leading axes"
    )


def _shape_holds(fact: s.ShapeHoldsOther) -> str:
    sizes = shape(fact.shape)
    if -1 in fact.shape:
        return f"{fact.entries} entries do not fit the shape {sizes}, whatever -1 stands for"
    return f"the shape {sizes} holds {math.prod(fact.shape)} entries; the tensor has {fact.entries}"


def _expand(fact: s.CannotExpand) -> str:
    return (
        f"an axis of size {_size(fact.size)} cannot become one of size {_size(fact.target)} "
        f"(axis {fact.axis}): only axes of size 1 can be expanded"
    )


def _no_axis(fact: s.NoSuchAxis) -> str:
    return (
        f"there is no axis {fact.axis}: this tensor has axes {fact.first} to {fact.last}. "
        "The axes -1 and -2 exist whatever the number of leading axes"
    )


def _permute(fact: s.PermuteAxes) -> str:
    return (
        f"the tensor has {fact.actual} axes and {fact.named} are named; "
        "transpose(-2, -1) swaps the last two, however many there are"
    )


SENTENCES: dict[type, Callable[[Any], str]] = {
    s.Measured: lambda fact: fact.text,
    s.OtherAnswerEachTime: lambda fact: (
        "the same question gets another answer each time: the function is random"
    ),
    s.OtherDtype: lambda fact: (
        f"the answers have dtype {fact.yours} where {fact.expected} is right"
    ),
    s.AlsoWrong: _also_wrong,
    s.RefusesNothing: lambda fact: (
        "besides, it does not raise ValueError where the contract asks for it"
    ),
    s.OtherInHalfPrecision: lambda fact: "besides, in half precision it does something else",
    s.InnerSizesDiffer: _inner,
    s.BatchSizesDiffer: _batch,
    s.BroadcastSizesDiffer: _broadcast,
    s.EinsumSizesDiffer: _einsum,
    s.EinsumAxes: _einsum_axes,
    s.ShapeHoldsOther: _shape_holds,
    s.CannotExpand: _expand,
    s.NoSuchAxis: _no_axis,
    s.PermuteAxes: _permute,
    s.Pitfall: lambda fact: PITFALLS[fact.topic],
}
