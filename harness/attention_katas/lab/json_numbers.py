"""Tensors as JSON, which has no word for NaN or infinity; and whether two tensors agree."""

from __future__ import annotations

import math
from typing import Any

import torch

from attention_katas.devices import Device
from attention_katas.judge.ladder import is_close

# What a picture may cost on the wire; the largest that a panel draws is 16 x 16.
CELLS = 4096


def cells(tensor: torch.Tensor) -> Any:
    """Nested lists of numbers in the shape of the tensor, any shape of at most CELLS entries.

    "nan", "inf" and "-inf" stand for what is no number. A larger tensor gives an empty list.
    """
    values = tensor.detach().to(torch.float64) if tensor.numel() <= CELLS else torch.zeros(0)
    return _as_json(values.tolist())


def number(value: float) -> float | str:
    """One number, to seven digits, or the word for it."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.7g}")


def _as_json(value: Any) -> Any:
    return [_as_json(item) for item in value] if isinstance(value, list) else number(float(value))


def close(answer: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether the judge takes two tensors of any shapes for equal, in float64 on the CPU."""
    tolerance = Device("cpu").tolerance(torch.float64)
    return is_close(answer.detach().double(), expected.detach().double(), tolerance)


def near(answer: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two tensors of any shape agree as float32 does after long sums in another order."""
    return answer.shape == expected.shape and torch.allclose(
        answer.detach().double(), expected.detach().double(), rtol=1e-3, atol=1e-4
    )
