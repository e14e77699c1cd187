"""What the hidden tests say beyond "equals the reference": the fixtures behind the laws.

`same` compares two answers, `slopes` gradients with small differences, `refuses` wants an
exception, and `follows_device` asks whether everything the function makes lives where its inputs
do.
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
from attention_katas.verdict.data import FAILED


def same(conversation: RemoteSolution, device: Device) -> Callable[..., None]:
    """`same(a, b, "because ...")`: two tensors of a law agree within the dtype's tolerance."""

    def check(yours: torch.Tensor, expected: torch.Tensor, because: str) -> None:
        climb = Climb(conversation.calls[-1] if conversation.calls else None)
        climb.shape(yours, expected)
        if bool((pattern(yours) != pattern(expected)).any()):
            climb.fail("values", because)
        wrong, _ = differences(yours, expected, device.tolerance(yours.dtype))
        if not (~wrong).all():
            climb.fail("values", because, **climb.evidence(yours, expected, wrong))

    return check


def slopes(conversation: RemoteSolution, device: Device) -> Callable[..., None]:
    """`slopes(solution.f, x)`: gradients equal finite differences (torch.autograd.gradcheck).

    NotVerified on a device without float64, in which small differences drown.
    """

    def check(function: Proxy, *inputs: torch.Tensor) -> None:
        if device.precise != "float64":
            raise failures.NotVerified("small differences need float64")
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        # Steps that code with a softmax in float32 inside can still feel; along one direction of
        # each input (fast_mode), where a step for every entry asks the code fifty times.
        if not torch.autograd.gradcheck(
            function, leaves, eps=1e-3, atol=1e-2, rtol=1e-2, raise_exception=False, fast_mode=True
        ):
            call = conversation.calls[-1] if conversation.calls else None
            message = "the gradients are not the slopes of what the function computes"
            raise failures.CheckFailed(message, "gradients", call.evidence() if call else None)

    return check


def refuses(conversation: RemoteSolution) -> Callable[..., None]:
    """`refuses(solution.f, ValueError, x, 3)`: the call raises this exception."""

    def check(function: Proxy, error: type[Exception], *args: Any, **kwargs: Any) -> None:
        wanted = error.__name__
        try:
            function(*args, **kwargs)
        except failures.CheckFailed as failure:
            raised = failure.evidence.raised if failure.evidence else None
            if raised is None or failure.rung != "answered":
                raise
            if wanted not in (raised.type, *failure.kinds):
                message = f"raised {raised.type}, expected {wanted}"
                raise failures.CheckFailed(message, "answered", failure.evidence) from None
            return
        except error:  # the reference in the learner's place
            return
        call = conversation.calls[-1] if conversation.calls else None
        evidence = call.evidence(returned="an answer", wanted=wanted) if call else None
        raise failures.CheckFailed(f"an answer came back, expected {wanted}", "answered", evidence)

    return check


def follows_device(
    conversation: RemoteSolution, stand_in: Callable[[], bool]
) -> Callable[..., None]:
    """`follows_device(solution.softmax, x)`: everything lives on the device of the inputs.

    Only a device mismatch counts. What else goes wrong on a make-believe device is NotVerified,
    since right code may do it.
    """

    def check(function: Proxy, *args: Any, **kwargs: Any) -> None:
        if stand_in():
            return  # the reference is in the learner's place
        try:
            answer = conversation.call(function.__name__, args, kwargs, on_fake_device=True)
        except failures.NotWritten:
            raise
        except failures.CheckFailed as failure:
            if failure.outcome != FAILED:
                raise
            raised = failure.evidence.raised if failure.evidence else None
            if raised and raised.type == "DeviceMismatch":
                message = "a tensor made here is on the default device, not on that of the inputs"
                raise failures.CheckFailed(message, "device", failure.evidence) from None
            raise failures.NotVerified("this code cannot run on a make-believe device") from None
        if conversation.calls[-1].output_device != fake_device.NAME:
            message = "the answer is on the cpu, wherever the inputs are"
            raise failures.CheckFailed(message, "device", conversation.calls[-1].evidence())
        here = {n: "cpu" if isinstance(v, torch.device) else v for n, v in kwargs.items()}
        expected = getattr(conversation.reference, function.__name__)(*args, **here)
        if answer.shape != expected.shape or differences(answer, expected, 1e-2)[0].any():
            raise failures.NotVerified("this code computes something else on another device")

    return check
