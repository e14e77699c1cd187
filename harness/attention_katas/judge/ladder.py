"""The ladder that an answer climbs: shape, dtype, device, finite, values, gradients, inputs.

A check stops at the first rung that does not hold. `agree` compares a learner's function with
the reference, all the way up; the laws (see `laws`) use single rungs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from attention_katas.devices import Device
from attention_katas.judge import excerpt, failures
from attention_katas.judge.proxy import Call, Proxy, RemoteSolution, copy_of, mapped, tensors_in
from attention_katas.verdict.data import Evidence


class Agree:
    """`agree(solution.softmax, x, dim=-1)`: the learner's answer equals the reference's."""

    def __init__(
        self,
        conversation: RemoteSolution,
        reference: ModuleType,
        device: Device,
        generator: torch.Generator,
    ) -> None:
        self._conversation, self._reference = conversation, reference
        self._device, self._generator = device, generator

    def __call__(
        self,
        function: Proxy,
        *args: Any,
        gradients: bool = True,
        tolerance: float | None = None,
        weights: int | None = None,
        masked: torch.Tensor | None = None,
        **kwargs: Any,
    ) -> torch.Tensor:
        """Climb the whole ladder; returns the learner's answer.

        gradients: compare them too; in half precision they only have to arrive.
        tolerance: instead of the dtype's own, for inputs far from unit spread.
        weights: the axis along which the answer sums to one, to show the sums.
        """
        differentiate = gradients and bool(_floats((args, kwargs)))
        asked_args, asked_kwargs = _copies((args, kwargs), differentiate)
        expected, truth = self._expect(function.__name__, args, kwargs, differentiate)
        try:
            answer = function(*asked_args, **asked_kwargs)
        except failures.CheckFailed as failure:
            if failure.evidence is not None and not failure.evidence.wanted:
                dtype = str(expected.dtype).removeprefix("torch.")
                failure.evidence.wanted = f"{excerpt.shape_text(expected)} {dtype}"
            raise
        call = self._conversation.calls[-1] if self._conversation.calls else None
        if call is not None:
            call.tolerance = tolerance
        climb = Climb(call, weights, masked)
        climb.shape(answer, expected)
        climb.dtype(answer, expected)
        if tensors_in((args, kwargs)):
            climb.device(answer, self._device.name)
        allowed = self._device.tolerance(expected.dtype) if tolerance is None else tolerance
        climb.finite(answer, expected)
        climb.values(answer, expected, allowed)
        if differentiate and truth.requires_grad:
            try:
                self._gradients(climb, (asked_args, asked_kwargs), answer, truth, tolerance)
            except failures.CheckFailed:
                climb.unchanged()  # a changed input is what broke the gradient, so say that
                raise
        climb.unchanged()
        return answer

    def _expect(
        self, name: str, args: Any, kwargs: Any, differentiate: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The reference's answer as it should come back, and in float64 with its graph."""
        floats = _floats((args, kwargs))
        self._leaves, (wide_args, wide_kwargs) = _widened((args, kwargs), differentiate)
        truth: torch.Tensor = getattr(self._reference, name)(*wide_args, **wide_kwargs)
        dtype = floats[0].dtype if floats and truth.is_floating_point() else truth.dtype
        return truth.detach().to(dtype), truth

    def _gradients(
        self,
        climb: Climb,
        asked: Any,
        answer: torch.Tensor,
        truth: torch.Tensor,
        tolerance: float | None,
    ) -> None:
        # Larger than one, so that a gradient that is cut to a range is seen.
        upstream = 4 * torch.randn(truth.shape, generator=self._generator, dtype=truth.dtype)
        inputs = _floats(asked)
        names = [n for n, t in zip(climb.names, tensors_in(asked), strict=False) if t.requires_grad]
        if not answer.requires_grad:
            yours: tuple[torch.Tensor | None, ...] = (None,) * len(inputs)
        else:
            # Through a scalar: with `grad_outputs` torch first imports sympy, for half a second.
            loss = (answer * upstream.to(answer.dtype)).sum()
            yours = torch.autograd.grad(loss, inputs, allow_unused=True)
        wanted = torch.autograd.grad((truth * upstream).sum(), self._leaves, allow_unused=True)
        largest = max(
            (float(g.abs().max()) for g in wanted if g is not None and g.numel()), default=0
        )
        for position, (mine, theirs) in enumerate(zip(yours, wanted, strict=True)):
            name = names[position] if position < len(names) else f"input {position}"
            target = torch.zeros_like(self._leaves[position]) if theirs is None else theirs
            allowed = self._device.gradient_tolerance(answer.dtype)
            allowed = None if allowed is None else max(allowed, tolerance or 0.0)
            climb.gradient(name, mine, target, allowed, max(1.0, largest))


class Climb:
    """The rungs, one method each, for one call."""

    def __init__(
        self, call: Call | None, along: int | None = None, masked: torch.Tensor | None = None
    ) -> None:
        self.call, self.along, self.masked = call, along, masked
        self.names = call.names if call else []

    def fail(self, rung: str, message: str, **evidence: Any) -> None:
        found = self.call.evidence(**evidence) if self.call else Evidence(**evidence)
        raise failures.CheckFailed(message, rung, found)

    def shape(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        if answer.shape != expected.shape:
            yours, wanted = excerpt.shape_text(answer), excerpt.shape_text(expected)
            self.fail(
                "shape",
                f"shape {yours} came back, expected {wanted}",
                returned=yours,
                wanted=wanted,
            )

    def dtype(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        if answer.dtype != expected.dtype:
            yours, wanted = str(answer.dtype), str(expected.dtype)
            message = f"{yours} came back, expected {wanted}, the dtype of the input"
            if not expected.is_floating_point():
                message = f"{yours} came back, expected {wanted}"
            self.fail("dtype", message, returned=yours, wanted=wanted)

    def device(self, answer: torch.Tensor, wanted: str) -> None:
        yours = (self.call.output_device if self.call else str(answer.device)).partition(":")[0]
        if yours != wanted:
            self.fail(
                "device",
                f"the answer is on {yours}, the inputs are on {wanted}",
                returned=yours,
                wanted=wanted,
            )

    def finite(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        """NaN and inf stand exactly where they should."""
        if not answer.is_floating_point() or (_all_finite(answer) and _all_finite(expected)):
            return
        mine, theirs = pattern(answer), pattern(expected)
        wrong = mine != theirs
        if not wrong.any():
            return
        at = torch.nonzero(wrong)[0].tolist()
        what = {1: "NaN", 2: "inf", 3: "-inf"}.get(int(mine[tuple(at)]), "a finite number")
        kind = mine == mine[tuple(at)]
        count = f"{int((wrong & kind).sum())} of {wrong.numel()} entries"
        self.fail(
            "finite",
            f"{what} in {count}, first at {excerpt.place(at)}",
            **self.evidence(answer, expected, wrong),
        )

    def values(self, answer: torch.Tensor, expected: torch.Tensor, allowed: float) -> None:
        wrong, difference = differences(answer, expected, allowed)
        if self.masked is not None:
            leaks = self.masked & (expected == 0) & (answer.detach() != 0)
            if leaks.any() and (~wrong).all():
                at = torch.nonzero(leaks)[0].tolist()
                message = (
                    f"{int(leaks.sum())} hidden entries are not exactly zero, "
                    f"such as {_number(answer[tuple(at)])} at {excerpt.place(at)}"
                )
                self.fail("values", message, **self.evidence(answer, expected, leaks, at))
        if (~wrong).all():
            return
        at = torch.nonzero(difference == difference.max())[0].tolist()
        mine, wanted = _apart(answer[tuple(at)], expected[tuple(at)])
        message = (
            f"{int(wrong.sum())} of {wrong.numel()} entries differ, "
            f"most at {excerpt.place(at)}: {mine} came back, expected {wanted}"
        )
        factor = _factor(answer, expected)
        if factor and wrong.numel() > 2:
            message = (
                f"every entry is {factor} times what was expected; most apart"
                + (message.partition("most")[2])
            )
        self.fail("values", message, **self.evidence(answer, expected, wrong, at))

    def gradient(
        self,
        name: str,
        mine: torch.Tensor | None,
        expected: torch.Tensor,
        allowed: float | None,
        scale: float,
    ) -> None:
        """The gradient of one input; without `allowed` it only has to arrive.

        Measured against `scale`, the largest entry of all gradients: they are sums, in which small
        ones drown, and some cancel to nothing but rounding.
        """
        if mine is None:
            # The true gradient of some inputs is zero up to rounding; None is right there.
            if bool((expected.abs() > 1e-6 * scale).any()):
                self.fail("gradients", f"no gradient reaches {name}: it is cut off on the way")
            return
        if mine.shape != expected.shape:
            self.fail("gradients", f"the gradient of {name} has the wrong shape")
        if _all_finite(mine) and _all_finite(expected):
            wrong = unlike = torch.zeros(expected.shape, dtype=torch.bool)
        else:
            wrong = unlike = pattern(mine) != pattern(expected)
        if allowed is not None:
            wrong = unlike | differences(mine, expected, allowed * scale)[0]
        if (~wrong).all():
            return
        self.masked = (
            self.masked if self.masked is not None and (self.masked.shape == wrong.shape) else None
        )
        self.along = None
        kind = "is not finite" if unlike.any() else "differs"
        message = f"the gradient of {name} {kind} in {int(wrong.sum())} of {wrong.numel()} entries"
        shown = self.evidence(mine, expected, wrong)
        self.fail("gradients", message, of=f"gradient of {name}", **shown)

    def unchanged(self) -> None:
        if self.call and self.call.rearranged:
            key = self.call.rearranged
            self.fail(
                "inputs unchanged",
                f"the call changed the entry {key} in the dict of its caller; work on a copy",
            )
        if self.call and self.call.changed:
            position = min(self.call.changed)
            name = self.names[position] if position < len(self.names) else "an input"
            self.fail(
                "inputs unchanged", f"the call changed its input {name}; work on a new tensor"
            )

    def evidence(
        self,
        yours: torch.Tensor,
        expected: torch.Tensor,
        wrong: torch.Tensor,
        at: list[int] | None = None,
    ) -> dict[str, Any]:
        shown = excerpt.compare(yours, expected, wrong, at=at, masked=self.masked, along=self.along)
        return {name: getattr(shown, name) for name in ("yours", "expected", "wrong", "masked")}


def _all_finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())


def pattern(tensor: torch.Tensor) -> torch.Tensor:
    """0 finite, 1 NaN, 2 inf, 3 -inf."""
    kinds = torch.zeros(tensor.shape, dtype=torch.int8)
    kinds[torch.isnan(tensor)] = 1
    kinds[torch.isposinf(tensor)] = 2
    kinds[torch.isneginf(tensor)] = 3
    return kinds


def differences(
    yours: torch.Tensor, expected: torch.Tensor, allowed: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which finite entries are further apart than allowed, and by how much."""
    if yours.dtype == expected.dtype == torch.bool:
        return yours != expected, yours ^ expected
    mine, theirs = yours.detach().double(), expected.detach().double()
    finite = torch.isfinite(theirs)
    gap = torch.where(finite, (mine - theirs).abs(), torch.zeros_like(theirs))
    close = gap <= allowed + allowed * torch.where(finite, theirs.abs(), torch.zeros_like(theirs))
    return ~close, gap.nan_to_num(nan=float("inf"))


def _number(value: torch.Tensor, digits: int = 4) -> str:
    if not value.is_floating_point():
        return str(value.item())
    return f"{value.item() + 0.0:.{digits}g}"  # no minus before a zero


def _apart(mine: torch.Tensor, theirs: torch.Tensor) -> tuple[str, str]:
    """Two different numbers in words that differ."""
    for digits in (4, 7, 17):
        pair = _number(mine, digits), _number(theirs, digits)
        if pair[0] != pair[1]:
            break
    return pair


def _factor(yours: torch.Tensor, expected: torch.Tensor) -> str:
    """The one number by which all entries are off, or "" when there is none."""
    if not yours.is_floating_point() or not expected.is_floating_point():
        return ""
    mine, theirs = yours.detach().double().flatten(), expected.detach().double().flatten()
    factor = float((mine @ theirs) / (theirs @ theirs).clamp(min=1e-300))
    spread = (mine - factor * theirs).abs().max() / theirs.abs().max().clamp(min=1e-300)
    constant = factor > 0 and abs(factor - 1) > 0.02 and bool(spread < 1e-2)
    return f"{factor:.3g}" if constant else ""


def _floats(value: Any) -> list[torch.Tensor]:
    return [tensor for tensor in tensors_in(value) if tensor.is_floating_point()]


def _map(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """`value` with every floating-point tensor in it replaced."""
    return mapped(value, lambda t: change(t) if t.is_floating_point() else t)


def _copies(value: Any, differentiate: bool) -> Any:
    return _map(value, lambda t: copy_of(t).requires_grad_(differentiate))


def _widened(value: Any, differentiate: bool) -> tuple[list[torch.Tensor], Any]:
    """float64 copies for the reference, and the list of them in order."""
    leaves: list[torch.Tensor] = []

    def widen(tensor: torch.Tensor) -> torch.Tensor:
        leaves.append(tensor.detach().double().clone().requires_grad_(differentiate))
        return leaves[-1]

    return leaves, _map(value, widen)
