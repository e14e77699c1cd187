"""The ladder that an answer climbs: shape, dtype, device, finite, values, gradients, inputs.

A check stops at the first rung that does not hold. `agree` compares a learner's function with
the reference, all the way up; the laws (see `laws`) use single rungs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Literal, NoReturn

import torch

from attention_katas.devices import Device
from attention_katas.judge import excerpt, failures, trees
from attention_katas.judge.proxy import Call, Proxy, RemoteSolution, copy_of, mapped, tensors_in
from attention_katas.verdict import reasons
from attention_katas.verdict.data import Evidence, Rung

# What `pattern` numbers.
KINDS: tuple[Literal["finite", "nan", "inf", "-inf"], ...] = ("finite", "nan", "inf", "-inf")


class Agree:
    """`agree(solution.softmax, x, dim=-1)`: the learner's answer equals the reference's."""

    def __init__(
        self,
        remote: RemoteSolution,
        reference: ModuleType,
        device: Device,
        generator: torch.Generator,
    ) -> None:
        self._remote, self._reference = remote, reference
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
    ) -> Any:
        """Climb the whole ladder; returns the learner's answer, of the reference's shape.

        A nested answer climbs rung by rung with all of its tensors.

        gradients: compare them too; in half precision they only have to arrive.
        tolerance: instead of the dtype's own, for inputs far from unit spread.
        weights: the axis along which the answer sums to one, to show the sums.
        masked: bool, in the shape of the answer: entries that have to be exactly zero.
        """
        differentiate = gradients and bool(_floats((args, kwargs)))
        asked_args, asked_kwargs = _copies((args, kwargs), differentiate)
        expected, truth = self._expect(function.__name__, args, kwargs, differentiate)
        try:
            answer = function(*asked_args, **asked_kwargs)
        except failures.CheckFailed as failure:
            if failure.evidence is not None and not failure.evidence.expected_type:
                failure.evidence.expected_type = excerpt.type_text(expected)
            raise
        call = self._remote.calls[-1] if self._remote.calls else None
        if call is not None:
            call.tolerance = tolerance
        climb = Climb(call, weights, masked)
        climb.structure(answer, expected)
        answer = trees.in_order_of(answer, expected)
        pairs = [
            (path, output, target)
            for (path, target), output in zip(
                trees.parts(expected), tensors_in(answer), strict=True
            )
        ]
        inputs = tensors_in((args, kwargs))
        for rung in climb.rungs(self._device, tolerance, devices=bool(inputs)):
            for climb.part, output, target in pairs:
                rung(output, target)
        climb.part = ""
        if differentiate and any(tensor.requires_grad for tensor in tensors_in(truth)):
            try:
                self._gradients(climb, (asked_args, asked_kwargs), answer, truth, tolerance)
            except failures.CheckFailed:
                climb.unchanged()  # a changed input is what broke the gradient, so say that
                raise
        climb.unchanged()
        return answer

    def _expect(self, name: str, args: Any, kwargs: Any, differentiate: bool) -> tuple[Any, Any]:
        """The reference's answer as it should come back, and in float64 with its graph."""
        floats = _floats((args, kwargs))
        self._leaves, (wide_args, wide_kwargs) = _widened((args, kwargs), differentiate)
        truth = getattr(self._reference, name)(*wide_args, **wide_kwargs)
        precise = floats[0].dtype.to_real() if floats else None

        def narrow(tensor: torch.Tensor) -> torch.Tensor:
            if precise is None or not trees.differentiable(tensor):
                return tensor.detach()
            return tensor.detach().to(precise.to_complex() if tensor.is_complex() else precise)

        return mapped(truth, narrow), truth

    def _gradients(
        self, climb: Climb, asked: Any, answer: Any, truth: Any, tolerance: float | None
    ) -> None:
        pairs = [
            (output, target)
            for output, target in zip(tensors_in(answer), tensors_in(truth), strict=True)
            if target.requires_grad
        ]
        # Larger than one, so that a gradient that is cut to a range is seen.
        upstreams = [
            4 * torch.randn(target.shape, generator=self._generator, dtype=target.dtype)
            for _, target in pairs
        ]
        inputs = _floats(asked)
        names = [n for n, t in zip(climb.names, tensors_in(asked), strict=False) if t.requires_grad]
        # Through a scalar: with `grad_outputs` torch first imports sympy, for half a second.
        losses = [
            trees.inner_product(output, upstream.to(output.dtype))
            for (output, _), upstream in zip(pairs, upstreams, strict=True)
            if output.requires_grad
        ]
        arriving: tuple[torch.Tensor | None, ...] = (None,) * len(inputs)
        if losses:
            arriving = torch.autograd.grad(losses, inputs, allow_unused=True)
        true_losses = [
            trees.inner_product(target, upstream)
            for (_, target), upstream in zip(pairs, upstreams, strict=True)
        ]
        right = torch.autograd.grad(true_losses, self._leaves, allow_unused=True)
        largest = max(
            (float(g.abs().max()) for g in right if g is not None and g.numel()), default=0
        )
        allowed = self._device.gradient_tolerance(pairs[0][0].dtype)
        allowed = None if allowed is None else max(allowed, tolerance or 0.0)
        for position, (actual, gradient) in enumerate(zip(arriving, right, strict=True)):
            name = names[position] if position < len(names) else f"input {position}"
            target = torch.zeros_like(self._leaves[position]) if gradient is None else gradient
            climb.gradient(name, actual, target, allowed, max(1.0, largest))


class Climb:
    """The rungs, one method each, for one call."""

    def __init__(
        self, call: Call | None, along: int | None = None, masked: torch.Tensor | None = None
    ) -> None:
        self.call, self.along, self.masked = call, along, masked
        self.names = call.names if call else []
        self.part = ""

    def rungs(
        self, device: Device, tolerance: float | None, devices: bool
    ) -> Iterator[Callable[[torch.Tensor, torch.Tensor], None]]:
        """The rungs that compare a tensor of the answer with the expected one, in order.

        tolerance: instead of the dtype's own.
        devices: whether the inputs say on which device the answer has to be.
        """
        yield self.shape
        yield self.dtype
        if devices:
            yield lambda output, _: self.device(output, device.name)
        yield self.finite
        yield lambda output, target: self.values(
            output, target, device.tolerance(target.dtype) if tolerance is None else tolerance
        )

    def structure(self, answer: Any, expected: Any) -> None:
        """Both are nested in the same way."""
        actual, target = trees.structure(answer), trees.structure(expected)
        if actual != target:
            actual, target = excerpt.shortened(actual), excerpt.shortened(target)
            reason = reasons.WrongStructure(actual, target)
            self.fail("type", reason, returned=actual, expected_type=target)

    def fail(self, rung: Rung, reason: reasons.Reason, **evidence: Any) -> NoReturn:
        """Raise CheckFailed with the evidence of the call."""
        evidence = {"part": self.part, **evidence}
        whole = self.call.evidence(**evidence) if self.call else Evidence(**evidence)
        raise failures.CheckFailed(reason, rung, whole)

    def shape(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        """Both tensors have one shape."""
        if answer.shape != expected.shape:
            actual, target = excerpt.shape_text(answer), excerpt.shape_text(expected)
            reason = reasons.WrongShape(tuple(answer.shape), tuple(expected.shape))
            self.fail("shape", reason, returned=actual, expected_type=target)

    def dtype(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        """Both tensors, of any shape, have one dtype."""
        if answer.dtype != expected.dtype:
            actual, target = excerpt.dtype_name(answer), excerpt.dtype_name(expected)
            reason = reasons.WrongDtype(actual, target, expected.is_floating_point())
            self.fail("dtype", reason, returned=actual, expected_type=target)

    def device(self, answer: torch.Tensor, expected: str) -> None:
        """The answer, of any shape, is on the device `expected`."""
        actual = (self.call.output_device if self.call else str(answer.device)).partition(":")[0]
        if actual != expected:
            reason = reasons.WrongDevice(actual, expected)
            self.fail("device", reason, returned=actual, expected_type=expected)

    def finite(self, answer: torch.Tensor, expected: torch.Tensor) -> None:
        """NaN and inf stand exactly where they should. Both tensors have one shape."""
        if not trees.differentiable(answer) or (_all_finite(answer) and _all_finite(expected)):
            return
        actual = pattern(answer)
        wrong = actual != pattern(expected)
        if not wrong.any():
            return
        at = torch.nonzero(wrong)[0].tolist()
        alike = actual == actual[tuple(at)]
        reason = reasons.NotFinite(
            kind=KINDS[int(actual[tuple(at)]) % 4 or int(actual[tuple(at)]) // 4],
            count=int((wrong & alike).sum()),
            total=wrong.numel(),
            at=tuple(at),
        )
        self.fail("finite", reason, **self.evidence(answer, expected, wrong))

    def values(self, answer: torch.Tensor, expected: torch.Tensor, allowed: float) -> None:
        """All entries agree, and masked ones are exactly zero. Both tensors have one shape.

        allowed: the tolerance, relative and absolute.
        """
        wrong, difference = differences(answer, expected, allowed)
        if self.masked is not None:
            leaks = self.masked & (expected == 0) & (answer.detach() != 0)
            if leaks.any() and (~wrong).all():
                at = torch.nonzero(leaks)[0].tolist()
                value = excerpt.cell(answer[tuple(at)])
                leak = reasons.HiddenNotZero(int(leaks.sum()), value, tuple(at))
                self.fail("values", leak, **self.evidence(answer, expected, leaks, at))
        if (~wrong).all():
            return
        at = torch.nonzero(difference == difference.max())[0].tolist()
        reason = reasons.EntriesDiffer(
            count=int(wrong.sum()),
            total=wrong.numel(),
            at=tuple(at),
            yours=excerpt.cell(answer[tuple(at)]),
            expected=excerpt.cell(expected[tuple(at)]),
            factor=_factor(answer, expected) if wrong.numel() > 2 else None,
        )
        self.fail("values", reason, **self.evidence(answer, expected, wrong, at))

    def gradient(
        self,
        name: str,
        yours: torch.Tensor | None,
        expected: torch.Tensor,
        allowed: float | None,
        scale: float,
    ) -> None:
        """The gradient of one input, in the shape of the input.

        allowed: the tolerance; None when the gradient only has to arrive.
        scale: the largest entry of all gradients. They are sums, in which small ones drown, and
            some cancel to nothing but rounding.
        """
        if yours is None:
            # The true gradient of some inputs is zero up to rounding; None is right there.
            if bool((expected.abs() > 1e-6 * scale).any()):
                self.fail("gradients", reasons.NoGradient(name))
            return
        if yours.shape != expected.shape:
            self.fail("gradients", reasons.GradientShape(name))
        if _all_finite(yours) and _all_finite(expected):
            wrong = unlike = torch.zeros(expected.shape, dtype=torch.bool)
        else:
            wrong = unlike = pattern(yours) != pattern(expected)
        if allowed is not None:
            wrong = unlike | differences(yours, expected, allowed * scale)[0]
        if (~wrong).all():
            return
        self.masked = (
            self.masked if self.masked is not None and (self.masked.shape == wrong.shape) else None
        )
        self.along = None
        finite = not bool(unlike.any())
        reason = reasons.GradientDiffers(name, int(wrong.sum()), wrong.numel(), finite)
        grids = self.evidence(yours, expected, wrong)
        self.fail("gradients", reason, gradient_of=name, **grids)

    def unchanged(self) -> None:
        """The call wrote into none of its inputs."""
        if self.call and self.call.rearranged:
            self.fail("inputs unchanged", reasons.EntryChanged(self.call.rearranged))
        if self.call and self.call.changed:
            position = min(self.call.changed)
            name = self.names[position] if position < len(self.names) else ""
            self.fail("inputs unchanged", reasons.InputChanged(name))

    def evidence(
        self,
        yours: torch.Tensor,
        expected: torch.Tensor,
        wrong: torch.Tensor,
        at: list[int] | None = None,
    ) -> dict[str, Any]:
        """The grids of an Evidence. All tensors have one shape.

        at: the index of the entry to show; that of the first wrong one if None.
        """
        grids = excerpt.compare(yours, expected, wrong, at=at, masked=self.masked, along=self.along)
        return {name: getattr(grids, name) for name in ("yours", "expected", "wrong", "masked")}


def _all_finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())


def pattern(tensor: torch.Tensor) -> torch.Tensor:
    """For each entry 0 finite, 1 NaN, 2 inf, 3 -inf; int8, in the shape of the tensor.

    For complex entries that of the real part and four times that of the imaginary one.
    """
    if tensor.is_complex():
        return pattern(tensor.real) + 4 * pattern(tensor.imag)
    kinds = torch.zeros(tensor.shape, dtype=torch.int8)
    kinds[torch.isnan(tensor)] = 1
    kinds[torch.isposinf(tensor)] = 2
    kinds[torch.isneginf(tensor)] = 3
    return kinds


def is_close(yours: torch.Tensor, expected: torch.Tensor, allowed: float) -> bool:
    """Whether two tensors of any shapes are equal, as the judge compares them.

    NaN and infinities have to be in the same places; the other entries as in `differences`.
    """
    if yours.shape != expected.shape or not torch.equal(pattern(yours), pattern(expected)):
        return False
    wrong, _ = differences(yours, expected, allowed)
    return not bool(wrong.any())


def differences(
    yours: torch.Tensor, expected: torch.Tensor, allowed: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which finite entries are further apart than allowed, and by how much.

    All four tensors have one shape: bool the first answer, float64 the second. An entry may be off
    by `allowed * (1 + |expected|)`, a complex one in each of its two parts.
    """
    if yours.is_complex() or expected.is_complex():
        return _complex_differences(yours, expected, allowed)
    if yours.dtype == expected.dtype == torch.bool:
        return yours != expected, yours ^ expected
    actual, right = yours.detach().double(), expected.detach().double()
    finite = torch.isfinite(right)
    gap = torch.where(finite, (actual - right).abs(), torch.zeros_like(right))
    close = gap <= allowed + allowed * torch.where(finite, right.abs(), torch.zeros_like(right))
    return ~close, gap.nan_to_num(nan=float("inf"))


def _complex_differences(
    yours: torch.Tensor, expected: torch.Tensor, allowed: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `differences`, for complex tensors of one shape."""
    right = torch.view_as_real(expected.detach().to(torch.complex128).resolve_conj())
    actual = torch.view_as_real(yours.detach().to(torch.complex128).resolve_conj())
    finite = torch.isfinite(right)
    gap = torch.where(finite, (actual - right).abs(), torch.zeros_like(right))
    size = torch.where(finite, right, torch.zeros_like(right)).norm(dim=-1, keepdim=True)
    close = gap <= allowed + allowed * size
    return ~close.all(-1), gap.nan_to_num(nan=float("inf")).amax(-1)


def _factor(yours: torch.Tensor, expected: torch.Tensor) -> float | None:
    """The one number by which all entries are off, or None. Both tensors have one shape."""
    if not yours.is_floating_point() or not expected.is_floating_point():
        return None
    actual, right = yours.detach().double().flatten(), expected.detach().double().flatten()
    factor = float((actual @ right) / (right @ right).clamp(min=1e-300))
    spread = (actual - factor * right).abs().max() / right.abs().max().clamp(min=1e-300)
    constant = factor > 0 and abs(factor - 1) > 0.02 and bool(spread < 1e-2)
    return factor if constant else None


def _floats(value: Any) -> list[torch.Tensor]:
    return [tensor for tensor in tensors_in(value) if trees.differentiable(tensor)]


def _map(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """`value` with every real or complex tensor in it replaced."""
    return mapped(value, lambda t: change(t) if trees.differentiable(t) else t)


def _copies(value: Any, differentiate: bool) -> Any:
    return _map(value, lambda t: copy_of(t).requires_grad_(differentiate))


def _widened(value: Any, differentiate: bool) -> tuple[list[torch.Tensor], Any]:
    """float64 (or complex128) copies for the reference, and the list of them in order."""
    leaves: list[torch.Tensor] = []

    def widen(tensor: torch.Tensor) -> torch.Tensor:
        wide = torch.complex128 if tensor.is_complex() else torch.float64
        leaves.append(tensor.detach().to(wide).clone().requires_grad_(differentiate))
        return leaves[-1]

    return leaves, _map(value, widen)
