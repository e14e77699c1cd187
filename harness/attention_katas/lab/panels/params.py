"""Reads and checks the parameters that the page sends."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any


class Unclear(ValueError):
    """The page sent a parameter that does not exist or does not fit."""


def numeral(asked: dict[str, Any], name: str, least: float, most: float) -> float:
    """A number, clamped to the range from least to most. Raises Unclear for anything else."""
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unclear(f"{name} is not a number")
    if abs(value) > sys.float_info.max or math.isnan(value):
        raise Unclear(f"{name} is not a finite number")
    return min(max(float(value), least), most)


def whole(asked: dict[str, Any], name: str, least: int, most: int) -> int:
    return round(numeral(asked, name, least, most))


def switch(asked: dict[str, Any], name: str) -> bool:
    return asked.get(name) is True


def one_of(asked: dict[str, Any], name: str, known: Sequence[Any]) -> Any:
    value = asked.get(name)
    for choice in known:
        if type(value) is type(choice) and value == choice:
            return choice
    raise Unclear(f"there is no {name} {str(value)[:40]!r}")


def points(asked: dict[str, Any], name: str, count: int, most: float) -> list[tuple[float, float]]:
    """`count` points (x, y), each coordinate clamped to -most to most."""
    value = asked.get(name)
    if not isinstance(value, list) or len(value) != count:
        raise Unclear(f"{name} are not {count} points")
    pairs = []
    for point in value:
        if not isinstance(point, list) or len(point) != 2:
            raise Unclear(f"{name} has an item that is not a point")
        x, y = (numeral({"a coordinate": choice}, "a coordinate", -most, most) for choice in point)
        pairs.append((x, y))
    return pairs
