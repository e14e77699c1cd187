"""Nested arguments and answers: tuples, lists and dicts of tensors and None.

A function of a pack may return more than one tensor: its reference then says so in its return
annotation, such as `tuple[torch.Tensor, torch.Tensor]` or `dict[str, torch.Tensor]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

_ONE_TENSOR = ("torch.Tensor", "Tensor", torch.Tensor, inspect.Signature.empty)


def is_nested(reference: Callable[..., Any]) -> bool:
    """Whether a reference returns more than one tensor, by its return annotation."""
    return inspect.signature(reference).return_annotation not in _ONE_TENSOR


def parts(value: Any, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of a value, of any shape, with its path: `[1]`, `['cache'][0]`, or ""."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from parts(item, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from parts(item, f"{path}[{position}]")


def structure(value: Any) -> str:
    """How a value is nested, in Python's words: `(tensor, [tensor, None])`."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, dict):
        items = (f"{str(key)!r}: {structure(value[key])}" for key in sorted(value, key=str))
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(structure, value))}]"
    if isinstance(value, tuple):
        inside = ", ".join(map(structure, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return "None" if value is None else type(value).__name__


def in_order_of(value: Any, model: Any) -> Any:
    """`value` with the keys of its dicts in the order of `model`, which has the same structure."""
    if isinstance(value, dict):
        by_name = {str(key): item for key, item in value.items()}  # keys are sent as strings
        return {key: in_order_of(by_name[str(key)], model[key]) for key in model}
    if isinstance(value, (list, tuple)):
        return type(value)(in_order_of(a, b) for a, b in zip(value, model, strict=True))
    return value


def differentiable(tensor: torch.Tensor) -> bool:
    """Whether a tensor of any shape can have a gradient: it is real or complex."""
    return tensor.is_floating_point() or tensor.is_complex()


def inner_product(output: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    """A real scalar whose gradient in `output` is `upstream`; both have one shape.

    PyTorch's convention for a real loss L is dL/dRe + i dL/dIm, see
    https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers.
    """
    if output.is_complex():
        return (output * upstream.conj()).sum().real
    return (output * upstream).sum()
