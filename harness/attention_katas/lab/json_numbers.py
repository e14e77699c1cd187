"""Tensors as JSON, with NaN and infinities as strings."""

from __future__ import annotations

import math
from typing import Any

import torch

# What a picture may cost on the wire; the largest that a panel draws is 16 x 16.
CELLS = 4096


def cells(tensor: torch.Tensor) -> Any:
    """A tensor of any shape as nested lists of numbers, "nan", "inf" and "-inf".

    A tensor of more than CELLS entries becomes an empty list.
    """
    values = tensor.detach().to(torch.float64) if tensor.numel() <= CELLS else torch.zeros(0)
    return _worded(values.tolist())


def number(value: float) -> float | str:
    """A number, or "nan", "inf" or "-inf"."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.7g}")


def _worded(value: Any) -> Any:
    return [_worded(item) for item in value] if isinstance(value, list) else number(float(value))


def close(mine: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors of any shape are equal in float64.

    NaN and infinities are in the same places; other entries differ by at most 1e-6.
    """
    if mine.shape != right.shape:
        return False
    mine, right = mine.detach().double(), right.detach().double()
    odd = ~torch.isfinite(right)
    if not torch.equal(odd, ~torch.isfinite(mine)):
        return False
    if not torch.equal(torch.nan_to_num(mine[odd]), torch.nan_to_num(right[odd])):
        return False
    gap, allowed = (mine - right)[~odd].abs(), 1e-6 + 1e-6 * right[~odd].abs()
    return bool((gap <= allowed).all())


def near(mine: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors of any shape are equal in float32, where long sums are less exact."""
    return mine.shape == right.shape and torch.allclose(
        mine.detach().double(), right.detach().double(), rtol=1e-3, atol=1e-4
    )
