"""Numbers, indices and shapes as a learner would write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attention_katas.verdict.facts import Cell


def index(at: Iterable[int]) -> str:
    """`[0, 3]`"""
    return f"[{', '.join(map(str, at))}]"


def shape(sizes: Sequence[int]) -> str:
    """`(2, 3)`, `(3,)`, `()`"""
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def number(value: Cell | None, digits: int = 4) -> str:
    """Four significant digits; without a minus before zero."""
    if isinstance(value, float):
        return f"{value + 0.0:.{digits}g}"
    return "NaN" if value == "nan" else str(value)


def apart(yours: Cell, expected: Cell) -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see the difference."""
    for digits in (4, 7, 17):
        pair = number(yours, digits), number(expected, digits)
        if pair[0] != pair[1]:
            break
    return pair


def listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`"""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
