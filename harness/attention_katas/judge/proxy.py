"""The learner's functions as seen from a check: each call goes to a sandbox worker.

`Solution` looks like a module with the learner's functions. Calling one sends the inputs to the
worker and returns an ordinary tensor that is tied into autograd: `.backward()` and
`torch.autograd.gradcheck` ask the worker for its gradients.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from types import ModuleType
from typing import Any, cast, get_args

import torch

from attention_katas.judge import excerpt, failures, trees
from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import audit, frames, wire
from attention_katas.sandbox.worker import LimitExceeded, Worker, WorkerDied, WorkerTimedOut
from attention_katas.verdict import reasons
from attention_katas.verdict.data import Evidence, Frame, Notice, Oddity, Raised

MOST_FRAMES = 50  # of an exception; a process can claim any number


@dataclass
class Call:
    """One call of a learner's function, for the ladder and the diagnosis.

    function, args, kwargs: the question.
    text: the call as a learner would write it.
    arguments: name and value of each input.
    names: of all tensors among the inputs, in the order in which they are sent.
    answer: what came back: a tensor, or tensors and None in tuples, lists and dicts.
    output_device: where its tensors were.
    changed: position of an input tensor that was written into -> what it holds now.
    rearranged: a key of a dict among the inputs whose entry was replaced or removed.
    on_fake_device: the inputs pretended to be on another device.
    raised, kinds: the exception instead of an answer, and its classes.
    mismatch: that exception says that tensors of two devices met.
    lost: no reply came at all.
    tolerance: for inputs far from unit spread.
    upstreams: the gradient at each tensor of the answer; None for one that has none.
    gradients: what the backward pass made of them, for each input that has a gradient.
    """

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    text: str
    arguments: list[tuple[str, Any]]
    names: list[str]
    answer: Any = None
    output_device: str = ""
    changed: dict[int, torch.Tensor] = field(default_factory=dict)
    rearranged: str = ""
    on_fake_device: bool = False
    raised: Raised | None = None
    kinds: tuple[str, ...] = ()
    mismatch: bool = False
    lost: bool = False
    tolerance: float | None = None
    upstreams: list[torch.Tensor | None] | None = None
    gradients: list[torch.Tensor | None] | None = None

    @property
    def inputs(self) -> list[str]:
        """The tensors among the inputs, in words."""
        return [
            f"{name} {excerpt.describe(value)}"
            for name, value in self.arguments
            if tensors_in(value)
        ]

    def evidence(self, **more: Any) -> Evidence:
        return Evidence(call=self.text, inputs=self.inputs, **more)


class Solution:
    """The learner's functions by name: `solution.softmax(x, dim=-1)`."""

    def __init__(
        self, kata: Kata, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]
    ) -> None:
        for name in kata.functions:
            setattr(self, name, Proxy(name, call))

    def __getattr__(self, name: str) -> Proxy:
        raise AttributeError(f"the kata asks for no function {name!r}")


class Proxy:
    """Stands in for one of the learner's functions."""

    def __init__(
        self, name: str, call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]
    ) -> None:
        self.__name__ = name
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self.__name__, args, kwargs)


class RemoteSolution:
    """Calls to one sandbox worker, for the length of one check."""

    def __init__(
        self,
        submission: Submission,
        reference: ModuleType,
        worker: Worker,
        device: str,
        hung: set[str],
        call_seconds: float | None = None,
        until: float = math.inf,
    ) -> None:
        """call_seconds: what a call, and loading, may take, when not the learner's own limit.

        until: the time (time.monotonic) at which all checks of the kata have to be through.
        """
        self.submission, self.reference, self.worker = submission, reference, worker
        self.device = device
        self.hung = hung
        self.until = until
        self.call_seconds = call_seconds or worker.limits.call_seconds
        self.load_seconds = call_seconds or worker.limits.load_seconds
        self.calls: list[Call] = []
        self.audit: list[Notice] = []
        self._ids = itertools.count(1)

    def load(self) -> dict[str, Any]:
        """Load the submission. Raises CheckFailed for all that can go wrong on the way."""
        kata = self.submission.kata
        request = {
            "do": "load",
            "module": kata.module,
            "sources": self.submission.sources,
            "functions": list(kata.functions),
        }
        seconds = min(self.load_seconds, self.worker.limits.load_seconds)
        reply, _ = self._ask(request, {}, seconds, None)
        return reply

    def call(
        self,
        function: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        on_fake_device: bool = False,
    ) -> Any:
        """What the learner's function answers: a tensor, or nested ones where the reference does.

        Raises CheckFailed for anything else.

        on_fake_device: the inputs claim another device (see sandbox/fake_device.py).
        """
        self._may_call(function)
        reference = getattr(self.reference, function)
        call = described(reference, copied(args), copied(kwargs))
        call.on_fake_device = on_fake_device
        self.calls.append(call)
        tensors: wire.Tensors = {}
        number = next(self._ids)
        request = {
            "do": "call",
            "id": number,
            "function": function,
            "args": wire.pack(list(args), tensors),
            "kwargs": wire.pack(kwargs, tensors),
            "device": self.device,
            "fake_device": on_fake_device,
            "nested": trees.is_nested(reference),
        }
        reply, sent = self._ask(request, tensors, self.call_seconds, call)
        self._note(call, reply, sent)
        leaves = [t for t in tensors_in((args, kwargs)) if t.requires_grad]
        outputs = tensors_in(call.answer)
        if not leaves or not torch.is_grad_enabled() or not any(map(trees.differentiable, outputs)):
            return call.answer
        ask = lambda upstreams: self.gradients(number, call, upstreams)  # noqa: E731
        linked = _Link.apply(ask, len(outputs), *outputs, *leaves)  # type: ignore[no-untyped-call]
        tied = iter(linked)
        return mapped(call.answer, lambda _: next(tied))

    def gradients(
        self, number: int, call: Call, upstreams: list[torch.Tensor | None]
    ) -> list[torch.Tensor | None]:
        """The gradients that the learner's backward pass sends to the inputs of call `number`.

        upstreams: the gradient at each tensor of the answer, of the same shape, or None.

        Each gradient that comes back has the shape of its input.
        """
        tensors: wire.Tensors = {}
        call.upstreams = [None if g is None else g.detach().clone() for g in upstreams]
        request = {"do": "backward", "id": number, "upstream": wire.pack(upstreams, tensors)}
        try:
            reply, sent = self._ask(request, tensors, self.call_seconds, call)
        except failures.CheckFailed as failure:
            failure.rung, failure.reason = "gradients", reasons.BackwardFailed(failure.reason)
            raise
        self._note_changes(call, reply, sent)
        specs = reply.get("gradients")
        if not isinstance(specs, list):
            raise failures.Crashed(reasons.BadReply("backward"), "gradients")
        gradients = [None if spec is None else self._tensor(spec, sent) for spec in specs]
        call.gradients = gradients
        return gradients

    def _may_call(self, function: str) -> None:
        if function in self.submission.unwritten[self.submission.kata.module]:
            raise failures.NotWritten(reasons.NotWritten(function), "answered")
        if function in self.hung:
            raise failures.NotReached(reasons.HungBefore(function))

    def _note(self, call: Call, reply: wire.Message, sent: wire.Tensors) -> None:
        """Keep what came back, checking that it is what a worker can send."""
        if "odd" in reply:
            raise _not_a_tensor(call, str(reply["odd"])[:100], str(reply.get("repr", ""))[:100])
        nested = trees.is_nested(getattr(self.reference, call.function))
        unpack = self._tree if nested else self._tensor
        call.answer = unpack(reply.get("returned"), sent)
        call.output_device = str(reply.get("device", ""))[:40]
        if reply.get("overwrote") is True:
            reason = reasons.AnswerOverwritten()
            raise failures.CheckFailed(reason, "inputs unchanged", call.evidence())
        if reply.get("gradients_off") is True:
            raise failures.CheckFailed(reasons.GradientsOff(), "gradients", call.evidence())
        moved = reply.get("rearranged")
        for key in moved if isinstance(moved, list) else ():
            if isinstance(key, str) and key:
                call.rearranged = key[:100]
        self._note_changes(call, reply, sent)

    def _note_changes(self, call: Call, reply: wire.Message, sent: wire.Tensors) -> None:
        changed = reply.get("changed")
        for entry in changed if isinstance(changed, list) else ():
            position = entry.get("position") if isinstance(entry, dict) else None
            if isinstance(position, int) and 0 <= position < len(call.names):
                call.changed[position] = self._tensor(entry.get("now"), sent)

    def _tree(self, spec: Any, sent: wire.Tensors) -> Any:
        try:
            value = wire.unpack(spec, sent, lambda tensor, _: tensor)
        except frames.BadFrame:
            value = None
        if not tensors_in(value):
            raise failures.Crashed(reasons.BadReply("call"), "answered")
        return value

    def _tensor(self, spec: Any, sent: wire.Tensors) -> torch.Tensor:
        try:
            value = wire.unpack(spec, sent, lambda tensor, _: tensor)
        except frames.BadFrame:
            value = None
        if not isinstance(value, torch.Tensor):
            raise failures.Crashed(reasons.BadReply("call"), "answered")
        return value

    def _ask(
        self, request: dict[str, Any], tensors: wire.Tensors, seconds: float, call: Call | None
    ) -> tuple[wire.Message, wire.Tensors]:
        remaining = self.until - time.monotonic()
        try:
            if remaining <= 0:
                raise WorkerTimedOut(0.0)
            reply, sent = self.worker.ask(request, tensors, seconds=min(seconds, remaining))
        except WorkerTimedOut as error:
            self._lose(call)
            if remaining < seconds:
                whole = reasons.KataTimedOut(self.worker.limits.kata_seconds)
                raise failures.TimedOut(whole, "answered", _evidence_of(call)) from None
            if call is not None:
                self.hung.add(call.function)
            reason = reasons.TimedOut(error.seconds, loading=call is None)
            raise failures.TimedOut(reason, "answered", _evidence_of(call)) from None
        except LimitExceeded as error:
            self._lose(call)
            memory = isinstance(error.reason, reasons.MemoryExceeded)
            kind = failures.OutOfMemory if memory else failures.Crashed
            raise kind(error.reason, "answered", _evidence_of(call)) from None
        except WorkerDied as error:
            self._lose(call)
            raise failures.Crashed(error.reason, "answered", _evidence_of(call)) from None
        noted = reply.get("audit")
        self.audit += _notices(noted[:50]) if isinstance(noted, list) else []
        if isinstance(reply.get("raised"), dict):
            raise self._raised(reply["raised"], call)
        banned = reply.get("banned")
        if isinstance(banned, list) and banned:
            use = reasons.Banned(str(banned[0])[:100], stopped=False)
            raise failures.CheckFailed(use, "nothing banned", _evidence_of(call))
        return reply, sent

    @staticmethod
    def _lose(call: Call | None) -> None:
        if call is not None:
            call.lost = True

    def _raised(self, data: dict[str, Any], call: Call | None) -> failures.CheckFailed:
        """The failure that an exception in the learner's code amounts to."""
        raised = exception(data, self.submission)
        kinds = data.get("kinds")
        kinds = [str(kind)[:200] for kind in kinds[:50]] if isinstance(kinds, list) else []
        if call is not None:
            call.raised, call.kinds = raised, tuple(kinds)
        evidence = call.evidence(raised=raised) if call else Evidence(raised=raised)
        banned = data.get("banned")
        if isinstance(banned, list) and banned:
            stopped = reasons.Banned(str(banned[0])[:100], stopped=True)
            return failures.CheckFailed(stopped, "nothing banned", evidence)
        if data.get("memory") is True:
            memory = reasons.MemoryExceeded(self.worker.limits.memory_mb, refused=True)
            return failures.OutOfMemory(memory, "answered", evidence)
        unsendable = data.get("unsendable")
        if isinstance(unsendable, list) and len(unsendable) == 2:
            return failures.CheckFailed(_cannot_be_sent(*unsendable), "type", evidence)
        failure = failures.CheckFailed(self._reason(raised, call), "answered", evidence)
        failure.kinds, failure.mismatch = kinds, data.get("mismatch") is True
        missing = data.get("missing")
        failure.missing = missing[:200] if isinstance(missing, str) else ""
        if call is not None:
            call.mismatch = failure.mismatch
        return failure

    def _reason(self, raised: Raised, call: Call | None) -> reasons.Reason:
        where = raised.where
        if where is not None and raised.type == "NotImplementedError":
            unwritten = self.submission.unwritten.get(where.file.removesuffix(".py"), ())
            if where.function in unwritten:
                return reasons.NeedsUnwritten(where.function, where.file)
        if raised.type == "TypeError" and not raised.frames and call is not None:
            return reasons.CannotBeCalled(call.text)
        return reasons.RaisedException(raised.type)


def wrong_definition(submission: Submission, reply: dict[str, Any]) -> reasons.Reason | None:
    """What is wrong with the functions that the file defines, if something is."""
    kata, kinds, names = submission.kata, reply.get("functions"), reply.get("names")
    if not isinstance(kinds, dict):
        raise failures.Crashed(reasons.BadReply("load"), "answered")
    for name in kata.functions:
        kind: Any = kinds.get(name)
        if kind == "missing":
            definitions = names[:200] if isinstance(names, list) else []
            near = difflib.get_close_matches(
                name, [text[:100] for text in definitions if isinstance(text, str)], 1
            )
            empty = not submission.source.strip()
            file = PurePath(submission.file).name or kata.file
            return reasons.FunctionMissing(file, name, near[0] if near else "", empty)
        if kind != "function":
            is_known = kind in get_args(reasons.Definition)
            return reasons.NotAFunction(name, kind if is_known else "not callable")
    return None


def described(reference: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """A call in words: `softmax(x, dim=0)`, and each tensor of it with its name."""
    arguments = [*zip(_parameters(reference), args, strict=False), *kwargs.items()]
    parts = []
    for position, (name, value) in enumerate(arguments):
        text = name if tensors_in(value) else repr(value)
        parts.append(text if position < len(args) else f"{name}={text}")
    return Call(
        function=reference.__name__,
        args=args,
        kwargs=kwargs,
        text=f"{reference.__name__}({', '.join(parts)})",
        arguments=arguments,
        names=[label for name, value in arguments for label in _labels(name, value)],
    )


@functools.lru_cache
def _parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def _labels(name: str, value: Any) -> list[str]:
    """Names for all tensors in a value, in the order of `tensors_in`."""
    if isinstance(value, dict):
        return [label for key, item in value.items() for label in _labels(str(key), item)]
    return [name] * len(tensors_in(value))


class _Link(torch.autograd.Function):
    """Ties an answer into autograd; its backward asks the sandbox worker."""

    @staticmethod
    def forward(
        ctx: Any,
        ask: Callable[[list[torch.Tensor | None]], list[torch.Tensor | None]],
        count: int,
        *tensors: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        """Copies of the first `count` tensors, the outputs; the rest are the inputs."""
        outputs = tuple(tensor.clone() for tensor in tensors[:count])
        ctx.ask, ctx.count = ask, count
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in outputs if not trees.differentiable(t)))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *upstreams: torch.Tensor | None) -> Any:
        return (None, None, *[None] * ctx.count, *ctx.ask(list(upstreams)))


def _evidence_of(call: Call | None) -> Evidence | None:
    return call.evidence() if call else None


def exception(data: dict[str, Any], submission: Submission) -> Raised:
    """An exception from the sandbox worker, with the lines of source that belong to it."""
    entries, trace = data.get("frames"), []
    for entry in entries[-MOST_FRAMES:] if isinstance(entries, list) else ():
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[1], int)):
            continue
        file, function = str(entry[0])[:200], str(entry[2])[:200]
        lines = submission.sources.get(file.removesuffix(".py"), "").split("\n")
        line = min(max(entry[1], 1), len(lines))  # code can be compiled with any number of a line
        code = lines[line - 1].rstrip()[:200]
        trace.append(Frame(file, line, function, code))
    column = data.get("column")
    if not (isinstance(column, int) and trace and 0 < column <= len(trace[-1].code) + 1):
        column = None
    return Raised(
        str(data.get("type", ""))[:200], str(data.get("message", ""))[:2000], trace, column
    )


def _notices(entries: list[Any]) -> list[Notice]:
    """What the worker noted; nothing for an entry that no worker of ours can send.

    No text of the worker's goes further: it is shown to teachers.
    """
    return [
        Notice(cast(Oddity, code), detail)
        for entry in entries
        for code, detail in audit.POSSIBLE
        if entry == [code, detail]
    ]


def _cannot_be_sent(kind: Any, detail: Any) -> reasons.Reason:
    """The reason, by what the worker says of an answer that it cannot send."""
    if kind not in get_args(reasons.Unsendable):
        return reasons.BadReply("call")
    return reasons.CannotBeSent(kind, str(detail)[:200])


def _not_a_tensor(call: Call, kind: str, shown: str) -> failures.CheckFailed:
    reason = reasons.ReturnedNone() if kind == "NoneType" else reasons.NotATensor(kind)
    evidence = call.evidence(returned=shown or kind, expected_type="a torch.Tensor")
    return failures.CheckFailed(reason, "type", evidence)


def mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """`value` with every tensor in it, of any shape, replaced."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(mapped(item, change) for item in value)
    return value


def copied(value: Any) -> Any:
    """What a check asked, as it was then: it may write into its tensors later (gradcheck does)."""
    return mapped(value, lambda t: copy_of(t).requires_grad_(t.requires_grad))


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A copy without history, of the same shape and with the strides of the original."""
    copy = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype)
    return copy.copy_(tensor.detach())


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor in nested lists, tuples and dicts, in the order in which they are sent."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []
