"""The learner's code, asked further questions in a sandbox worker of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from attention_katas.authoring.probing import Question
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import failures, trees
from attention_katas.judge.proxy import Call, RemoteSolution, copy_of, mapped, tensors_in
from attention_katas.packs.submission import Submission
from attention_katas.sandbox.worker import Worker

CALL_SECONDS = 1.0


class NoAnswer(Exception):
    """The code gives no more answers: it hangs, has ended itself, or took too long in all."""


class FollowUp:
    """Asks the learner's functions; `calls` are the questions and what came back, in order."""

    def __init__(self, remote: RemoteSolution, until: float) -> None:
        """until: the time (time.monotonic) from which on nothing more is asked."""
        self._remote, self._until = remote, until

    @property
    def calls(self) -> list[Call]:
        return self._remote.calls

    def ask(self, function: str, question: Question, on_fake_device: bool = False) -> Call:
        """The call with what came of it. Raises NoAnswer."""
        if time.monotonic() > self._until:
            raise NoAnswer
        before = len(self.calls)
        args, kwargs = (
            (_with_gradients(question.args), _with_gradients(question.kwargs))
            if question.gradients
            else (question.args, question.kwargs)
        )
        try:
            answer = self._remote.call(function, args, kwargs, on_fake_device)
            with contextlib.suppress(RuntimeError):  # no such sum in this dtype
                _go_back([output for output in tensors_in(answer) if output.requires_grad])
        except failures.CheckFailed:
            if len(self.calls) == before:
                raise NoAnswer from None  # not written, or it hung before
        call = self.calls[-1]
        call.tolerance = question.tolerance
        if call.lost:
            raise NoAnswer
        return call

    def answer(self, function: str, *args: Any, **kwargs: Any) -> Any:
        """What came back, for a measurement. Raises NoAnswer, or CheckFailed when nothing did."""
        if time.monotonic() > self._until:
            raise NoAnswer
        try:
            return self._remote.call(function, args, kwargs)
        except failures.CheckFailed:
            if self.calls and self.calls[-1].lost:
                raise NoAnswer from None
            raise


@contextlib.contextmanager
def listening(
    submission: Submission,
    reference: ModuleType,
    device: str,
    take: Callable[[Submission], Worker],
    give_back: Callable[[Worker], None],
    until: float,
) -> Iterator[FollowUp | None]:
    """A FollowUp in a new sandbox worker; None when the code does not load there, or time is up."""
    if time.monotonic() > until:
        yield None
        return
    worker = take(submission)
    remote = RemoteSolution(submission, reference, worker, device, set(), CALL_SECONDS)
    try:
        try:
            remote.load()
        except failures.CheckFailed:
            yield None
        else:
            yield FollowUp(remote, until)
    finally:
        worker.printed()  # of no interest: the same was printed in the checks
        with contextlib.suppress(CouldNotGrade):
            give_back(worker)


def _with_gradients(value: Any) -> Any:
    """Fresh copies of all tensors, of which gradients are wanted where there can be any."""
    return mapped(value, lambda t: copy_of(t).requires_grad_(trees.differentiable(t)))


def _go_back(outputs: list[torch.Tensor]) -> None:
    """Run the backward pass from outputs of any shapes, so that the call records its gradients."""
    if outputs:
        torch.autograd.backward([trees.inner_product(t, _upstream(t)) for t in outputs])


def _upstream(output: torch.Tensor) -> torch.Tensor:
    """A gradient at the output, in its shape, the same at every call."""
    steps = torch.arange(output.numel(), dtype=torch.float64)
    return (4 * torch.sin(1 + steps * 0.7)).reshape(output.shape).to(output.dtype)
