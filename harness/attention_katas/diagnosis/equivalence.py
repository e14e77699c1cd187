"""What a function does with a question, in every way that a caller can see.

A question is a recorded `Call`. The learner's behaviour was recorded with it; that of a known
mistake, or of the reference, is observed here, in this process: they are our own functions.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from attention_katas.judge import trees
from attention_katas.judge.ladder import pattern
from attention_katas.judge.proxy import Call, copy_of, mapped, tensors_in
from attention_katas.sandbox import fake_device

HALF = (torch.float16, torch.bfloat16)
# Answers of one mistake in two spellings differ by rounding; answers of two mistakes by more.
CLOSE = {torch.float64: 5e-6, torch.float32: 2e-5, torch.bfloat16: 8e-2, torch.float16: 8e-3}
GRADIENTS_CLOSE = {torch.float64: 1e-5, torch.float32: 1e-3}


@dataclass
class Behaviour:
    """What came of one call.

    raised: an exception.
    refused: it was a ValueError, as a contract may ask for.
    message: the text of the exception.
    mismatch: tensors of two devices met.
    answer: what was returned: a tensor, or nested ones.
    away: the answer is on the fake device of the inputs.
    changed: positions of the tensors that were written into.
    gradients: of the inputs, in their shapes.
    """

    raised: bool = False
    refused: bool = False
    message: str = ""
    mismatch: bool = False
    answer: Any = None
    away: bool = False
    changed: frozenset[int] = frozenset()
    gradients: list[torch.Tensor | None] | None = field(default=None)


def recorded(call: Call) -> Behaviour:
    """What the learner's function did."""
    return Behaviour(
        raised=call.raised is not None,
        refused="ValueError" in call.kinds,
        message=call.raised.message if call.raised is not None else "",
        mismatch=call.mismatch,
        answer=call.answer,
        away=call.output_device == fake_device.NAME,
        changed=frozenset(call.changed),
        gradients=call.gradients,
    )


def observed(function: Callable[..., Any], call: Call) -> Behaviour:
    """What `function` does with the same question."""
    if call.on_fake_device:
        return _observed_on_fake_device(function, call)
    differentiate = call.upstreams is not None
    leaves: list[torch.Tensor] = []
    inputs: list[tuple[torch.Tensor, torch.Tensor]] = []

    def place(tensor: torch.Tensor) -> torch.Tensor:
        placed = copy_of(tensor)
        if tensor.requires_grad and differentiate:
            leaves.append(placed.requires_grad_())
            placed = placed.clone()
        inputs.append((tensor, placed))
        return placed

    try:
        with torch.enable_grad() if differentiate else torch.no_grad():
            returned = function(*mapped(positional(function, call), place))
    except Exception as error:  # noqa: BLE001 - a mistake may raise whatever it likes
        return Behaviour(raised=True, refused=isinstance(error, ValueError), message=str(error))
    if not tensors_in(returned):
        return Behaviour(raised=True)
    behaviour = Behaviour(answer=mapped(returned, torch.Tensor.detach))
    if differentiate:
        behaviour.gradients = _gradients(returned, leaves, call)
        if behaviour.gradients is None:
            return Behaviour(raised=True)
    behaviour.changed = frozenset(
        place for place, (before, after) in enumerate(inputs) if _differ(before, after)
    )
    return behaviour


def _gradients(
    returned: Any, leaves: list[torch.Tensor], call: Call
) -> list[torch.Tensor | None] | None:
    """The gradients of the inputs, in their shapes; None when the backward pass raises."""
    assert call.upstreams is not None
    losses = [
        trees.inner_product(output, upstream.to(output.dtype))
        for output, upstream in zip(tensors_in(returned), call.upstreams, strict=False)
        if upstream is not None and output.requires_grad and output.shape == upstream.shape
    ]
    if not losses:
        return [None] * len(leaves)
    try:
        return list(torch.autograd.grad(losses, leaves, allow_unused=True))
    except RuntimeError:  # something that the backward pass needs was overwritten
        return None


def _observed_on_fake_device(function: Callable[..., Any], call: Call) -> Behaviour:
    def away(tensor: torch.Tensor) -> torch.Tensor:
        return fake_device.FakeDeviceTensor(tensor.detach().clone())

    try:
        with torch.no_grad(), fake_device.fake_device():
            returned = function(*mapped(positional(function, call), away))
    except fake_device.DeviceMismatch:
        return Behaviour(raised=True, mismatch=True)
    except Exception:  # noqa: BLE001 - as above
        return Behaviour(raised=True)
    outputs = tensors_in(returned)
    if not outputs:
        return Behaviour(raised=True)
    away_flags = [isinstance(output, fake_device.FakeDeviceTensor) for output in outputs]
    plain = mapped(returned, lambda output: getattr(output, "numbers", output))
    return Behaviour(answer=plain, away=all(away_flags))


_signature = functools.lru_cache(1024)(inspect.signature)


def positional(function: Callable[..., Any], call: Call) -> tuple[Any, ...]:
    """All arguments of the call in the order of the parameters, defaults filled in."""
    try:
        bound = _signature(function).bind(*call.args, **call.kwargs)
    except TypeError:
        return call.args
    bound.apply_defaults()
    return bound.args


def alike(one: Behaviour, other: Behaviour, call: Call) -> bool:
    """Whether two behaviours are the same, up to rounding and to how NaN spreads within a row."""
    if call.on_fake_device:
        return (one.raised, one.mismatch, one.away) == (other.raised, other.mismatch, other.away)
    if one.raised or other.raised:
        return (one.raised, one.refused) == (other.raised, other.refused)
    if one.answer is None or other.answer is None:
        return False
    if one.changed != other.changed or not same_answer(one.answer, other.answer, call.tolerance):
        return False
    dtype = tensors_in(one.answer)[0].dtype
    if one.gradients is None or other.gradients is None or dtype in HALF:
        return True
    return _same_gradients(one.gradients, other.gradients, dtype, call.tolerance)


def same_complaint(one: Behaviour, other: Behaviour) -> bool:
    """Two exceptions speak of the same sizes, in whatever order: the same thing went wrong."""
    return sorted(re.findall(r"\d+", one.message)) == sorted(re.findall(r"\d+", other.message))


def same_answer(one: Any, other: Any, tolerance: float | None) -> bool:
    """Nested alike, equal in dtype and shape, and close in every entry."""
    if trees.structure(one) != trees.structure(other):
        return False
    pairs = zip(tensors_in(one), tensors_in(trees.in_order_of(other, one)), strict=True)
    return all(_same_tensor(first, second, tolerance) for first, second in pairs)


def _same_tensor(one: torch.Tensor, other: torch.Tensor, tolerance: float | None) -> bool:
    """Equal in dtype and shape, and close in every entry.

    Entries of weights, `(..., T_q, T_k)`, may differ in how NaN spreads within a row.
    """
    if one.is_complex() and other.dtype == one.dtype:
        return _same_tensor(_real_parts(one), _real_parts(other), tolerance)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    allowed = max(CLOSE.get(one.dtype, 0.0), tolerance or 0.0)
    first, second = one.detach().double(), other.detach().double()
    odd, odder = ~first.isfinite(), ~second.isfinite()
    if odd.any() or odder.any():
        if not (odd.any() and odder.any()):
            return False
        if one.dtype in HALF:
            return True  # which products overflow depends on how they are added up
        rows = odd.any(-1) if odd.dim() else odd
        if bool((rows != (odder.any(-1) if odder.dim() else odder)).any()):
            return False
        whole = ~rows.unsqueeze(-1).expand_as(odd) if odd.dim() else ~rows
        first, second = first[whole], second[whole]
    return bool(((first - second).abs() <= allowed + allowed * second.abs()).all())


def _real_parts(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as real and imaginary parts, (..., 2)."""
    return torch.view_as_real(tensor.detach().resolve_conj())


def _same_gradients(
    one: Sequence[torch.Tensor | None],
    other: Sequence[torch.Tensor | None],
    dtype: torch.dtype,
    tolerance: float | None,
) -> bool:
    """Close, measured against the largest of them; None is zero."""
    largest = max((_largest(g) for g in [*one, *other] if g is not None), default=0.0)
    real = dtype.to_real() if dtype.is_complex else dtype
    allowed = max(GRADIENTS_CLOSE.get(real, 1e-3), tolerance or 0.0) * max(1.0, largest)
    for first, second in zip(one, other, strict=False):
        if first is None and second is None:
            continue
        present = first if first is not None else second
        assert present is not None
        a = torch.zeros_like(present) if first is None else first
        b = torch.zeros_like(present) if second is None else second
        if a.shape != b.shape:
            return False
        a, b = (_real_parts(t) if t.is_complex() else t for t in (a, b))
        lost_a, lost_b = pattern(a) != 0, pattern(b) != 0
        if bool(lost_a.any()) != bool(lost_b.any()):
            return False
        whole = ~(lost_a | lost_b)
        if not bool(((a.double() - b.double())[whole].abs() <= allowed).all()):
            return False
    return True


def _largest(tensor: torch.Tensor) -> float:
    finite = tensor[tensor.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


def _differ(before: torch.Tensor, after: torch.Tensor) -> bool:
    before, after = before.detach(), after.detach()
    if not before.is_floating_point():
        return not torch.equal(before, after)
    same = (before == after) | (before.isnan() & after.isnan())
    return not bool(same.all())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without torch's warnings about what a mistake does."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
