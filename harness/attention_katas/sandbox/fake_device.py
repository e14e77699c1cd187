"""A fake device, to check that code follows the device of its inputs.

A `FakeDeviceTensor` stores its numbers on the cpu and claims to be on another device. Under
`fake_device()` an operator that mixes it with an ordinary cpu tensor raises DeviceMismatch, as on
a real accelerator; 0-d tensors and the operators that cross devices by design are exempt. The meta
device has no numbers, so code with `.item()` or `mask.any()` would not run on it, and its Python
kernels take 1.7 s to import.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

# The device that the tensors claim. No operator runs there: every call is computed on the cpu.
CLAIM = torch.device("meta")
NAME = "fake"  # what a worker calls this device in its replies
aten = torch.ops.aten
# Index tensors may live on the cpu, and copies are made to cross devices.
CROSSES = {
    aten.index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
    aten.copy_.default,
    aten.copy.default,
    aten._to_copy.default,
    aten._local_scalar_dense.default,
}


class DeviceMismatch(RuntimeError):
    """One operator got tensors of two devices."""


class CannotFake(RuntimeError):
    """A tensor was made on the claimed device in a way that this module does not intercept."""


class FakeDeviceTensor(torch.Tensor):
    """A tensor of any shape that claims to be on another device.

    numbers: the same tensor on the cpu.
    """

    numbers: torch.Tensor

    @staticmethod
    def __new__(cls, numbers: torch.Tensor) -> FakeDeviceTensor:
        tensor: FakeDeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls, numbers.shape, strides=numbers.stride(), dtype=numbers.dtype, device=CLAIM
        )
        tensor.numbers = numbers
        return tensor

    def new_tensor(self, data: Any, **kwargs: Any) -> torch.Tensor:  # type: ignore[override]
        return torch.tensor(data, **{"dtype": self.dtype, "device": CLAIM, **kwargs})

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _answer(func, args, kwargs or {})


class _FakeDeviceMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Intercepts factory calls as well, which involve no FakeDeviceTensor."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: nothing is compiled here, and True would import all of torch._dynamo."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _answer(func, args, kwargs or {})


@contextlib.contextmanager
def fake_device() -> Iterator[None]:
    """Inside, a tensor that is created on the claimed device is a FakeDeviceTensor."""
    originals = {name: getattr(torch, name) for name in ("tensor", "as_tensor")}
    for name, original in originals.items():
        setattr(torch, name, _from_data(original))
    try:
        with _FakeDeviceMode():  # type: ignore[no-untyped-call]
            yield
    finally:
        for name, original in originals.items():
            setattr(torch, name, original)


def _from_data(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`torch.tensor` fills its result below the dispatcher, where no mode sees it."""

    def make(data: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        if device is None or torch.device(device).type != CLAIM.type:
            return original(data, *args, device=device, **kwargs)
        return FakeDeviceTensor(original(data, *args, **kwargs))

    return make


def _answer(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of an operator, computed on the cpu. Raises DeviceMismatch or CannotFake."""
    tensors = _tensors((args, kwargs))
    has_fake = any(isinstance(t, FakeDeviceTensor) for t in tensors)
    plain = [t for t in tensors if not isinstance(t, FakeDeviceTensor)]
    if any(t.device.type == CLAIM.type for t in plain):
        raise CannotFake(f"{func} got a tensor without numbers")
    cpu_tensors = [t for t in plain if t.dim() > 0]
    if has_fake and cpu_tensors and func not in CROSSES:
        raise DeviceMismatch(
            f"{func} got a tensor on {cpu_tensors[0].device} and one on the device of the inputs"
        )
    result_is_fake = has_fake
    target = kwargs.get("device")
    if target is not None:
        result_is_fake = torch.device(target).type == CLAIM.type
        if result_is_fake:
            kwargs = {**kwargs, "device": torch.device("cpu")}
    inner_args, inner_kwargs = tree_map_only(FakeDeviceTensor, lambda t: t.numbers, (args, kwargs))
    result = func(*inner_args, **inner_kwargs)
    if func._schema.is_mutable:
        return args[0] if args else result
    return tree_map_only(torch.Tensor, FakeDeviceTensor, result) if result_is_fake else result


def _tensors(value: Any) -> list[torch.Tensor]:
    """All tensors in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return []
