"""Tensors as JSON, which has no word for NaN or infinity."""

from __future__ import annotations

import math
from typing import Any

import torch

from attention_katas.devices import TOLERANCES
from attention_katas.judge.ladder import is_close

# What a picture may cost on the wire; the largest that a panel draws is 16 x 16.
CELLS = 4096


def cells(tensor: torch.Tensor) -> Any:
    """Nested lists of numbers, with "nan", "inf" and "-inf" in the place of what is none."""
    values = tensor.detach().to(torch.float64) if tensor.numel() <= CELLS else torch.zeros(0)
    return _worded(values.tolist())


def number(value: float) -> float | str:
    """One number, or the word for it."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.7g}")


def _worded(value: Any) -> Any:
    return [_worded(item) for item in value] if isinstance(value, list) else number(float(value))


def close(yours: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether the judge takes two tensors of any shapes for equal in float64."""
    allowed = TOLERANCES["float64"]
    return is_close(yours.detach().double(), expected.detach().double(), allowed)


def near(mine: torch.Tensor, right: torch.Tensor) -> bool:
    """The same for float32, in which much is added up in another order."""
    return mine.shape == right.shape and torch.allclose(
        mine.detach().double(), right.detach().double(), rtol=1e-3, atol=1e-4
    )
