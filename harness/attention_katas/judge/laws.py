"""What the hidden tests check beyond "equals the reference": the fixtures behind the laws.

same             two answers agree
slopes           gradients equal finite differences
refuses          the call raises an exception
follows_device   everything that the function makes is on the device of its inputs
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attention_katas.devices import Device
from attention_katas.judge import failures
from attention_katas.judge.ladder import Climb, differences, pattern
from attention_katas.judge.proxy import Proxy, RemoteSolution
from attention_katas.sandbox import fake_device
from attention_katas.verdict import reasons
from attention_katas.verdict.data import FAILED


def same(remote: RemoteSolution, device: Device) -> Callable[..., None]:
    """`same(a, b, "because ...")`: two tensors of one shape agree within the dtype's tolerance."""

    def check(yours: torch.Tensor, expected: torch.Tensor, because: str) -> None:
        climb = Climb(remote.calls[-1] if remote.calls else None)
        climb.shape(yours, expected)
        if bool((pattern(yours) != pattern(expected)).any()):
            climb.fail("values", reasons.LawBroken(because))
        wrong, _ = differences(yours, expected, device.tolerance(yours.dtype))
        if not (~wrong).all():
            grids = climb.evidence(yours, expected, wrong)
            climb.fail("values", reasons.LawBroken(because), **grids)

    return check


def slopes(remote: RemoteSolution, device: Device) -> Callable[..., None]:
    """`slopes(solution.f, x)`: gradients equal finite differences, for inputs of any shape.

    NotVerified on a device without float64, in which small differences drown. See
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html.
    """

    def check(function: Proxy, *inputs: torch.Tensor) -> None:
        if device.precise != "float64":
            raise failures.NotVerified(reasons.NeedsFloat64())
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        # Steps that code with a softmax in float32 inside can still feel; along one direction of
        # each input (fast_mode), where a step for every entry asks the code fifty times.
        if not torch.autograd.gradcheck(
            function, leaves, eps=1e-3, atol=1e-2, rtol=1e-2, raise_exception=False, fast_mode=True
        ):
            call = remote.calls[-1] if remote.calls else None
            evidence = call.evidence() if call else None
            raise failures.CheckFailed(reasons.NotTheSlopes(), "gradients", evidence)

    return check


def refuses(remote: RemoteSolution) -> Callable[..., None]:
    """`refuses(solution.f, ValueError, x, 3)`: the call raises this exception."""

    def check(function: Proxy, error: type[Exception], *args: Any, **kwargs: Any) -> None:
        expected = error.__name__
        try:
            function(*args, **kwargs)
        except failures.CheckFailed as failure:
            raised = failure.raised
            if raised is None or failure.rung != "answered":
                raise
            if expected not in (raised.type, *failure.kinds):
                reason = reasons.WrongException(raised.type, expected)
                raise failures.CheckFailed(reason, "answered", failure.evidence) from None
            return
        except error:  # the reference in the learner's place
            return
        call = remote.calls[-1] if remote.calls else None
        evidence = call.evidence(returned="an answer", expected_type=expected) if call else None
        raise failures.CheckFailed(reasons.NoException(expected), "answered", evidence)

    return check


def follows_device(remote: RemoteSolution, stand_in: Callable[[], bool]) -> Callable[..., None]:
    """`follows_device(solution.softmax, x)`: everything lives on the device of the inputs.

    The inputs may have any shape. Only a device mismatch counts; anything else that goes wrong on
    a pretended device is NotVerified, since right code may do it.
    """

    def check(function: Proxy, *args: Any, **kwargs: Any) -> None:
        if stand_in():
            return  # the reference is in the learner's place
        try:
            answer = remote.call(function.__name__, args, kwargs, on_fake_device=True)
        except failures.NotWritten:
            raise
        except failures.CheckFailed as failure:
            if failure.outcome != FAILED:
                raise
            if failure.mismatch:
                reason = reasons.MadeOnDefaultDevice()
                raise failures.CheckFailed(reason, "device", failure.evidence) from None
            raise failures.NotVerified(reasons.NoFakeDevice()) from None
        if remote.calls[-1].output_device != fake_device.NAME:
            evidence = remote.calls[-1].evidence()
            raise failures.CheckFailed(reasons.AnswerOnCpu(), "device", evidence)
        here = {n: "cpu" if isinstance(v, torch.device) else v for n, v in kwargs.items()}
        expected = getattr(remote.reference, function.__name__)(*args, **here)
        if answer.shape != expected.shape or differences(answer, expected, 1e-2)[0].any():
            raise failures.NotVerified(reasons.OtherOnFakeDevice())

    return check
