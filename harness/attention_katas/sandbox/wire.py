"""The contents of a frame between the judge and a sandbox worker.

A frame (see `frames`) has a JSON header and a body in the safetensors format; neither can carry
code: no pickle, no torch.load. A header describes values by specs (see `pack`);
tensors are in the body, under the names that the specs give.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from . import frames
from .frames import BadFrame

INDEX_CAP = 64 << 10  # bytes that describe the tensors of a frame
MOST_LEVELS = 32  # of lists, tuples and dicts in each other
MOST_SPECS = 4096  # in one value

Tensors = dict[str, torch.Tensor]
Message = dict[str, Any]


def encode(header: Message, tensors: Tensors | None = None) -> bytes:
    """One frame as bytes. Raises BadFrame if it would exceed the caps.

    tensors: of any shapes, by the names that specs in the header give them.
    """
    head = json.dumps(header, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return frames.build(head, save_tensors(tensors) if tensors else b"")


def decode(head: bytes, body: bytes) -> tuple[Message, Tensors]:
    """The header and the tensors of a frame's two parts. Raises BadFrame if they are malformed."""
    try:
        # The index of a safetensors body is bounded before it is read: a million empty tensors
        # would keep the reader busy for seconds.
        if body and int.from_bytes(body[:8], "little") > INDEX_CAP:
            raise BadFrame("too many tensors")
        header = json.loads(head)
        tensors = load_tensors(body) if body else {}
    except BadFrame:
        raise
    except BaseException as error:
        # A parser may raise anything, even a panic of Rust's that is no Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise BadFrame(f"unreadable frame: {type(error).__name__}") from None
    if not isinstance(header, dict):
        raise BadFrame("the header is not an object")
    return header, tensors


def read(read_exactly: Callable[[int], bytes]) -> tuple[Message, Tensors]:
    """The header and the tensors of the next frame, from a function that reads exactly n bytes."""
    return decode(*frames.read(read_exactly))


def dtype_name(dtype: torch.dtype) -> str:
    """The dtype's name without "torch."."""
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str) -> torch.dtype:
    """The dtype called `name`. Raises BadFrame when torch has none."""
    dtype = getattr(torch, name, None) if isinstance(name, str) else None
    if not isinstance(dtype, torch.dtype):
        raise BadFrame(f"no dtype {name!r}")
    return dtype


def pack(value: Any, tensors: Tensors) -> Any:
    """A JSON spec of `value`; its tensors are added to `tensors`.

    value: a dense tensor of any shape and strides, a dtype, a device, None, a bool, a number, a
        string, or lists, tuples and dicts of these. Raises TypeError for anything else.
    """
    if isinstance(value, torch.Tensor):
        return _pack_tensor(value, tensors)
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [pack(item, tensors) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): pack(item, tensors) for key, item in value.items()}}
    if value is None or isinstance(value, bool | int | float | str):
        return {"value": value}
    raise TypeError(f"cannot send a {type(value).__name__}")


def _pack_tensor(value: torch.Tensor, tensors: Tensors) -> Message:
    spec: Message = {"grad": value.requires_grad}
    name = str(len(tensors))
    plain = value.detach().to("cpu").contiguous().clone()
    # safetensors has no complex128, so complex tensors travel as pairs of real numbers.
    tensors[name] = torch.view_as_real(plain.resolve_conj()) if plain.is_complex() else plain
    spec["tensor"] = name
    if plain.is_complex():
        spec["complex"] = True
    if not value.is_contiguous():
        spec["strides"] = list(value.stride())
    return spec


def tensor_of(spec: Message, tensors: Tensors) -> torch.Tensor:
    """The tensor that a spec names, of any shape."""
    tensor = tensors[spec["tensor"]]
    return torch.view_as_complex(tensor) if spec.get("complex") is True else tensor


def unpack(
    spec: Any, tensors: Tensors, place: Callable[[torch.Tensor, Message], torch.Tensor]
) -> Any:
    """The value that `pack` described. Raises BadFrame for a spec that `pack` cannot have made.

    place: called with each tensor, of any shape, and its spec; returns the tensor to use.
    """
    try:
        return _Unpacker(tensors, place).value(spec, MOST_LEVELS)
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise BadFrame(f"a malformed spec: {type(error).__name__}") from None


class _Unpacker:
    """Values by their specs, within limits: whoever walks through a value does so by recursion."""

    def __init__(
        self, tensors: Tensors, place: Callable[[torch.Tensor, Message], torch.Tensor]
    ) -> None:
        self._tensors, self._place = tensors, place
        self._remaining = MOST_SPECS

    def value(self, spec: Any, levels: int) -> Any:
        """The value of one spec, with at most `levels` of nesting. Raises BadFrame."""
        self._remaining -= 1
        if not levels or self._remaining < 0:
            raise BadFrame("a value with too many parts or levels")
        if "tensor" in spec:
            return self._place(tensor_of(spec, self._tensors), spec)
        if "list" in spec:
            return [self.value(item, levels - 1) for item in spec["list"]]
        if "tuple" in spec:
            return tuple(self.value(item, levels - 1) for item in spec["tuple"])
        if "dict" in spec:
            return {key: self.value(item, levels - 1) for key, item in spec["dict"].items()}
        if "dtype" in spec:
            return dtype_of(spec["dtype"])
        if "device" in spec:
            return torch.device(spec["device"])
        if "value" in spec:
            return _plain_value(spec["value"])
        raise BadFrame("a spec of no known kind")


def _plain_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise BadFrame("a value of no known kind")
