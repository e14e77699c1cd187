"""The learner's code, asked further questions in a process of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from attention_katas.errors import CouldNotGrade
from attention_katas.examiner import failures
from attention_katas.examiner.conversation import Call, Conversation, copy_of, mapped
from attention_katas.learner.host import Learner
from attention_katas.probing import Question
from attention_katas.submission import Submission

CALL_SECONDS = 1.0


class Silent(Exception):
    """The code gives no more answers: it hangs, has ended itself, or took too long in all."""


class Witness:
    """Asks the learner's functions; `calls` are the questions and what came back, in order."""

    def __init__(self, talk: Conversation, until: float) -> None:
        """until: the time (time.monotonic) from which on nothing more is asked."""
        self._talk, self._until = talk, until

    @property
    def calls(self) -> list[Call]:
        return self._talk.calls

    def ask(self, function: str, question: Question, elsewhere: bool = False) -> Call:
        """The call with what came of it. Raises Silent."""
        if time.monotonic() > self._until:
            raise Silent
        before = len(self.calls)
        args, kwargs = (
            (_with_gradients(question.args), _with_gradients(question.kwargs))
            if question.gradients
            else (question.args, question.kwargs)
        )
        try:
            answer = self._talk.call(function, args, kwargs, elsewhere)
            if answer.requires_grad:
                with contextlib.suppress(RuntimeError):  # no such sum in this dtype
                    _go_back(answer)
        except failures.CheckFailed:
            if len(self.calls) == before:
                raise Silent from None  # not written, or it hung before
        call = self.calls[-1]
        call.tolerance = question.tolerance
        if call.lost:
            raise Silent
        return call

    def answer(self, function: str, *args: Any, **kwargs: Any) -> torch.Tensor:
        """What came back, for a measurement. Raises Silent, or CheckFailed when nothing did."""
        if time.monotonic() > self._until:
            raise Silent
        try:
            return self._talk.call(function, args, kwargs)
        except failures.CheckFailed:
            if self.calls and self.calls[-1].lost:
                raise Silent from None
            raise


@contextlib.contextmanager
def listening(
    submission: Submission,
    reference: ModuleType,
    device: str,
    take: Callable[[Submission], Learner],
    give_back: Callable[[Learner], None],
    until: float,
) -> Iterator[Witness | None]:
    """A witness in a new process; None when the code does not load there, or it is too late."""
    if time.monotonic() > until:
        yield None
        return
    learner = take(submission)
    talk = Conversation(submission, reference, learner, device, set(), CALL_SECONDS)
    try:
        try:
            talk.load()
        except failures.CheckFailed:
            yield None
        else:
            yield Witness(talk, until)
    finally:
        learner.printed()  # of no interest: the same was printed in the checks
        with contextlib.suppress(CouldNotGrade):
            give_back(learner)


def _with_gradients(value: Any) -> Any:
    """Fresh copies of all tensors, of which gradients are wanted where there can be any."""
    return mapped(value, lambda t: copy_of(t).requires_grad_(t.is_floating_point()))


def _go_back(answer: torch.Tensor) -> None:
    """Send a gradient back, so that what arrives is recorded with the call."""
    steps = torch.arange(answer.numel(), dtype=torch.float64)
    upstream = (4 * torch.sin(1 + steps * 0.7)).reshape(answer.shape).to(answer.dtype)
    torch.autograd.backward((answer * upstream).sum())
