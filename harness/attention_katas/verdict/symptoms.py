"""What a diagnosis saw beside, or instead of, a known mistake: one struct for each symptom.

`Symptom` is the union of all. `verdict.words.symptoms` has the sentences.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from attention_katas.verdict.facts import Fact


class Size(msgspec.Struct, frozen=True):
    """The size of an axis.

    axis: its name, such as "T_k", where the size tells which axis it is; else "".
    """

    size: int
    axis: str = ""


class Measured(Fact, frozen=True):
    """A property that the kata's probes measured, and that does not hold.

    id: the name of the measurement, the same from version to version.
    text: what the kata says about it.
    values: the text holds numbers that the learner's code returned.
    """

    id: str
    text: str
    values: bool


class OtherAnswerEachTime(Fact, frozen=True):
    """The same question gets another answer each time."""


class OtherDtype(Fact, frozen=True):
    """The answers have another dtype than they should."""

    yours: str
    expected: str


class AlsoWrong(Fact, frozen=True):
    """Earlier functions are wrong as well.

    functions: their names, or those of whole katas.
    """

    functions: tuple[str, ...]


class RefusesNothing(Fact, frozen=True):
    """It does not raise ValueError where the contract asks for it."""


class OtherInHalfPrecision(Fact, frozen=True):
    """In half precision it does something that the causes do not explain."""


# What an exception says about the axes that met


class InnerSizesDiffer(Fact, frozen=True):
    """A matrix product sums over two axes of different size."""

    left: Size
    right: Size


class BatchSizesDiffer(Fact, frozen=True):
    """A batched matrix product pairs different numbers of matrices."""

    left: int
    right: int


class BroadcastSizesDiffer(Fact, frozen=True):
    """Broadcasting lined up two axes of different size.

    axis: where.
    """

    left: Size
    right: Size
    axis: int


class EinsumSizesDiffer(Fact, frozen=True):
    """One letter of an einsum stands for two axes of different size."""

    letter: str
    left: Size
    right: Size


class EinsumAxes(Fact, frozen=True):
    """An einsum names another number of axes than the operand has."""

    named: int
    actual: int


class ShapeHoldsOther(Fact, frozen=True):
    """A reshape to a shape that does not hold the entries of the tensor.

    entries: of the tensor.
    """

    shape: tuple[int, ...]
    entries: int


class CannotExpand(Fact, frozen=True):
    """An axis that is not of size 1 cannot be expanded."""

    size: Size
    target: Size
    axis: int


class NoSuchAxis(Fact, frozen=True):
    """The tensor has no axis of this number.

    first, last: the axes that it has.
    """

    axis: int
    first: int
    last: int


class PermuteAxes(Fact, frozen=True):
    """permute names another number of axes than the tensor has."""

    actual: int
    named: int


class Pitfall(Fact, frozen=True):
    """A known complaint of torch that speaks of no sizes.

    topic: which one.
    """

    topic: Literal[
        "max returns a pair",
        "number, not tensor",
        "name of a weight",
        "view after transpose",
        "half overflows",
        "two dtypes",
        "in-place and gradients",
        "t of more than two axes",
        "mask not bool",
        "not of numbers",
        "one truth value",
    ]


Symptom = Union[  # noqa: UP007
    Measured,
    OtherAnswerEachTime,
    OtherDtype,
    AlsoWrong,
    RefusesNothing,
    OtherInHalfPrecision,
    InnerSizesDiffer,
    BatchSizesDiffer,
    BroadcastSizesDiffer,
    EinsumSizesDiffer,
    EinsumAxes,
    ShapeHoldsOther,
    CannotExpand,
    NoSuchAxis,
    PermuteAxes,
    Pitfall,
]
