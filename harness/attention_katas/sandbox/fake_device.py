"""A make-believe device, to see whether code follows the device of its inputs.

Tensors of `Elsewhere` hold their numbers on the cpu and claim to live on another device. Under
`fake_device()` they may not meet an ordinary cpu tensor, as on a real accelerator; 0-d tensors and
the operators that cross devices by design may. Unlike the meta device this keeps the numbers,
so code with `.item()` or `mask.any()` runs too, and it costs none of the imports (1.7 s) that
the meta device's Python kernels pull in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

# What the tensors claim. No operator ever runs there: every call is answered on the cpu.
CLAIM = torch.device("meta")
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
    """Tensors of two devices met in one operator."""


class CannotFake(RuntimeError):
    """A tensor was made on the claimed device in a way that this module does not see."""


class FakeDeviceTensor(torch.Tensor):
    """A tensor that claims to live on another device; `held` has its numbers."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> FakeDeviceTensor:
        made: FakeDeviceTensor = torch.Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), dtype=held.dtype, device=CLAIM
        )
        made.held = held
        return made

    def new_tensor(self, data: Any, **kwargs: Any) -> torch.Tensor:  # type: ignore[override]
        return torch.tensor(data, **{"dtype": self.dtype, "device": CLAIM, **kwargs})

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _answer(func, args, kwargs or {})


class _Pretend(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees the factory calls too, which involve no tensor of ours."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and the guard for it would import all of torch._dynamo."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _answer(func, args, kwargs or {})


@contextlib.contextmanager
def fake_device() -> Iterator[None]:
    """While this holds, what is made on the claimed device becomes an `Elsewhere`."""
    kept = {name: getattr(torch, name) for name in ("tensor", "as_tensor")}
    for name, original in kept.items():
        setattr(torch, name, _from_data(original))
    try:
        with _Pretend():  # type: ignore[no-untyped-call]
            yield
    finally:
        for name, original in kept.items():
            setattr(torch, name, original)


def _from_data(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`torch.tensor` fills its result below the dispatcher, out of a mode's sight."""

    def make(data: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        if device is None or torch.device(device).type != CLAIM.type:
            return original(data, *args, device=device, **kwargs)
        return FakeDeviceTensor(original(data, *args, **kwargs))

    return make


def _answer(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = _tensors((args, kwargs))
    ours = any(isinstance(t, FakeDeviceTensor) for t in tensors)
    plain = [t for t in tensors if not isinstance(t, FakeDeviceTensor)]
    if any(t.device.type == CLAIM.type for t in plain):
        raise CannotFake(f"{func} met a tensor without numbers")
    strangers = [t for t in plain if t.dim() > 0]
    if ours and strangers and func not in CROSSES:
        raise DeviceMismatch(
            f"{func} met a tensor on {strangers[0].device} and one on the device of the inputs"
        )
    lands_here = ours
    target = kwargs.get("device")
    if target is not None:
        lands_here = torch.device(target).type == CLAIM.type
        if lands_here:
            kwargs = {**kwargs, "device": torch.device("cpu")}
    inner_args, inner_kwargs = tree_map_only(FakeDeviceTensor, lambda t: t.held, (args, kwargs))
    result = func(*inner_args, **inner_kwargs)
    if func._schema.is_mutable:
        return args[0] if args else result
    return tree_map_only(torch.Tensor, FakeDeviceTensor, result) if lands_here else result


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return []
