"""The learner's functions: each kata's file in a sandbox worker of its own.

A process is the same as the judge's: locked, limited, with the kata's bans, killable. It is kept
from one drag to the next and replaced when the file changes, and by a spare that stands ready when
it had to be stopped.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attention_katas.judge import failures
from attention_katas.judge.excerpt import dtype_name
from attention_katas.judge.modules import Unloadable, load_module
from attention_katas.judge.proxy import Call, RemoteSolution, mapped, wrong_definition
from attention_katas.lab.processes import Processes, peak_memory
from attention_katas.lab.sources import only_loop, printers
from attention_katas.lab.step import (
    BROKEN,
    DTYPE,
    RAISED,
    SHAPE,
    STOPPED,
    UNWRITTEN,
    YOURS,
    Step,
)  # fmt: skip
from attention_katas.packs.catalog import Catalog, Kata, load_catalog
from attention_katas.packs.precheck import files_read, read_submission
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words

CALL_SECONDS = 0.4  # for one call while somebody drags: a loop is over within a second
MEASURE_SECONDS = 5.0  # for one call that is timed
STOPS = 3  # so often is a file tried again that had to be stopped
RENEW_SECONDS = 40.0  # of calls, after which a process is replaced: its processor time is limited
MESSAGE_CAP = 400

# The least that each function can be asked, to find out which of several files does not end.
_ROW = torch.zeros(1, 2)
PROBES: dict[str, tuple[Any, ...]] = {
    "attention_scores": (_ROW, _ROW),
    "scaled_scores": (_ROW, _ROW),
    "softmax": (_ROW,),
    "causal_mask": (1, 1),
    "masked_weights": (_ROW[None, None],),
    "scaled_dot_product_attention": (_ROW[None, None], _ROW[None, None], _ROW[None, None]),
}

# After these the process is no more.
ENDED = (failures.TimedOut, failures.Crashed, failures.OutOfMemory)


class _LastingSolution(RemoteSolution):
    """The functions of a file that is used for hours: no call is recorded."""

    seconds = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Always the same number, so that the process holds no more than its last answer.
        self._ids = itertools.repeat(1)  # type: ignore[assignment]

    def ask(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.calls.clear()
        self.audit.clear()
        self.hung.clear()
        return mapped(self.call(function, args, kwargs), torch.Tensor.detach)

    def _note(self, call: Call, reply: dict[str, Any], sent: dict[str, torch.Tensor]) -> None:
        seconds = reply.get("seconds")
        self.seconds = seconds if isinstance(seconds, float) and 0 <= seconds < math.inf else 0.0
        super()._note(call, reply, sent)


@dataclass
class _LoadedFile:
    """One kata's file as it stands, and the process that has loaded it."""

    submission: Submission | v.Verdict | None = None
    solution: _LastingSolution | None = None
    failure: failures.CheckFailed | None = None
    stops: int = 0
    stops_back: int = 0  # of backward: the answers are drawn all the same
    culprit: str = ""
    loop: v.Frame | None = None
    seconds_used: float = 0.0


@dataclass(frozen=True)
class LoadedKata:
    """Where a function belongs: its kata, if these katas have it, and the reference."""

    kata: Kata | None
    reference: ModuleType


class References:
    """In the place of a workspace: the file of every kata is its reference."""

    def path(self, kata: Kata) -> Path:
        return kata.reference

    def shown(self, kata: Kata) -> str:
        return f"reference/{kata.file}"


class LearnerFunctions:
    """Calls the learner's functions, for one thread. See `Processes` for what threads share."""

    def __init__(
        self,
        catalog: Catalog,
        space: Workspace | References,
        processes: Processes,
    ) -> None:
        self.catalog, self.space = catalog, space
        self._processes = processes
        self._homes = dict(_homes(catalog))
        self._files: dict[str, _LoadedFile] = {}
        self._loaded: dict[object, str] = {}
        self._twin: LearnerFunctions | None = None

    def home(self, function: str) -> LoadedKata:
        return self._homes[function]

    def duplicate(self) -> LearnerFunctions:
        """The references, called as the learner's functions are, to be measured beside them."""
        if self._twin is None:
            self._twin = LearnerFunctions(self.catalog, References(), self._processes)
        return self._twin

    def forget(self, names: set[str]) -> None:
        """These files have changed: whatever came from them is to be loaded again."""
        for name, loaded_file in list(self._files.items()):
            if files_read(self.catalog[name], loaded_file.submission) & names:
                self._disconnect(loaded_file)
                del self._files[name]

    def clock(self, function: str, args: tuple[Any, ...], seconds: float) -> float | None:
        """Seconds of one more call of what has answered before; None if it does not answer."""
        kata = self._homes[function].kata
        loaded_file = self._files.get(kata.name) if kata else None
        if kata is None or loaded_file is None:
            return None
        with contextlib.suppress(failures.CheckFailed):
            solution = self._connect(loaded_file, kata)
            solution.call_seconds = seconds
            solution.ask(function, args, {})
            return solution.seconds
        return None

    def renew(self, function: str) -> None:
        """A fresh process for this function's kata."""
        kata = self._homes[function].kata
        loaded_file = self._files.get(kata.name) if kata else None
        if loaded_file is not None:
            self._disconnect(loaded_file)

    def peak(self, function: str) -> int:
        """Bytes that the process of this function's kata has had at most; 0 if nobody says."""
        kata = self._homes[function].kata
        loaded_file = self._files.get(kata.name) if kata else None
        return (
            peak_memory(loaded_file.solution.worker.pid)
            if loaded_file and loaded_file.solution
            else 0
        )

    def load(self, function: str) -> None:
        """Have this function's file loaded before it is called."""
        kata = self._homes[function].kata
        if kata is not None:
            loaded_file = self._file(kata)
            if isinstance(loaded_file.submission, Submission) and loaded_file.failure is None:
                with contextlib.suppress(failures.CheckFailed):
                    self._connect(loaded_file, kata)

    def close(self) -> None:
        for loaded_file in self._files.values():
            self._disconnect(loaded_file)
        self._files.clear()
        if self._twin is not None:
            self._twin.close()

    def step(
        self,
        function: str,
        args: tuple[Any, ...],
        right: tuple[Any, ...] | None = None,
        gradient_of: torch.Tensor | None = None,
        seconds: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> Step:
        """Call the learner's function and the reference.

        args: the learner's arguments, tensors of any shape.
        right: arguments of the reference, if they differ from args.
        gradient_of: a gradient of the shape of the answer; the step then has the gradients of the
        first input too, the learner's only if there is an answer.
        seconds: time limit of the call.
        """
        home = self._homes[function]
        reference = getattr(home.reference, function)
        alone = reference(*args, **kwargs)
        truth = alone if right is None else reference(*right, **kwargs)
        step = Step(
            function,
            home.kata.file if home.kata else f"{home.reference.__name__}.py",
            home.kata.name if home.kata else "",
            UNWRITTEN,
            truth,
            alone,
        )
        if gradient_of is not None:
            step.right_gradient = _slope(reference, right or args, kwargs, gradient_of)
        if home.kata is None:
            step.message = f"these katas do not ask for {function}"
            return step
        self._fill(step, home.kata, args, kwargs, gradient_of, seconds)
        return step

    def _fill(
        self,
        step: Step,
        kata: Kata,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        gradient_of: torch.Tensor | None,
        seconds: float,
    ) -> None:
        loaded_file = self._file(kata)
        if isinstance(loaded_file.submission, v.Verdict):
            _from_verdict(step, loaded_file.submission)
            return
        assert isinstance(loaded_file.submission, Submission)
        if step.function in loaded_file.submission.unwritten[kata.module]:
            step.message = words.reason(reasons.NotWritten(step.function))
            return
        if loaded_file.stops >= STOPS:
            step.state = STOPPED
            step.culprit, step.where = loaded_file.culprit or kata.file, loaded_file.loop
            step.message = f"stopped {STOPS} times; save {step.culprit} to try again"
            return
        if gradient_of is not None:
            args = (args[0].clone().requires_grad_(), *args[1:])
        started = time.monotonic()
        try:
            answer = self._ask(step, loaded_file, kata, args, kwargs, seconds)
            if answer.shape != step.right.shape:
                step.state = SHAPE
                wrong = reasons.WrongShape(tuple(answer.shape), tuple(step.right.shape))
                step.message = words.reason(wrong)
            elif (kind := _other_kind(answer, step.right)) is not None:
                step.state, step.message = DTYPE, words.reason(kind)
            else:
                step.state, step.answer = YOURS, answer
                if gradient_of is not None:
                    self._send_back(step, loaded_file, gradient_of)
        except failures.CheckFailed as failure:
            self._failed(step, loaded_file, failure)
        finally:
            loaded_file.seconds_used += time.monotonic() - started
            if loaded_file.solution is not None:
                step.printed = loaded_file.solution.worker.printed()[-MESSAGE_CAP:]
                step.printers = (
                    " or ".join(printers(loaded_file.submission)) if step.printed else ""
                )
                if loaded_file.seconds_used > RENEW_SECONDS:
                    self._disconnect(loaded_file)

    def _ask(
        self,
        step: Step,
        loaded_file: _LoadedFile,
        kata: Kata,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        seconds: float,
    ) -> Any:
        """The answer. A process that ended with its fork server is replaced and asked again."""
        for again in (True, False):
            try:
                solution = self._connect(loaded_file, kata)
                solution.call_seconds = seconds
                answer: Any = solution.ask(step.function, args, kwargs)
                break
            except failures.Crashed as failure:
                if failure.reason != reasons.ProcessGone() or not again:
                    raise
                self._disconnect(loaded_file)
                loaded_file.failure = None
        step.seconds = solution.seconds
        return answer

    def _send_back(self, step: Step, loaded_file: _LoadedFile, upstream: torch.Tensor) -> None:
        """The gradient that the learner's backward sends to the first input."""
        assert loaded_file.solution is not None
        assert step.answer is not None
        if loaded_file.stops_back >= STOPS:
            step.backward = f"stopped {STOPS} times; save {step.file} to try again"
            return
        try:
            gradients = loaded_file.solution.gradients(
                1, loaded_file.solution.calls[-1], [upstream.to(step.answer.dtype)]
            )
        except failures.CheckFailed as failure:
            step.backward = _why(failure)
            if isinstance(failure, ENDED):
                loaded_file.stops_back += 1
                self._disconnect(loaded_file)
            return
        gradient = gradients[0] if gradients else None
        if gradient is None or gradient.shape != upstream.shape or not gradient.is_floating_point():
            step.backward = "no gradient came back"
            return
        step.gradient = gradient

    def _failed(self, step: Step, loaded_file: _LoadedFile, failure: failures.CheckFailed) -> None:
        step.state, step.message = RAISED, words.reason(failure.reason)
        if failure is loaded_file.failure:
            step.state = BROKEN
        if failure.reason == reasons.ReturnedNone():
            step.returned_nothing = True
            step.message = f"{step.function} {step.message}"
        raised = failure.raised
        if raised is not None:
            step.exception, step.where = raised.type, raised.where
            if isinstance(failure.reason, reasons.RaisedException) and raised.message:
                step.message = raised.message[:MESSAGE_CAP]
        if isinstance(failure, failures.TimedOut):
            step.state = STOPPED
        if isinstance(failure, ENDED):
            loaded_file.stops += 1
        # An answer that cannot be sent stays in the way of the next one.
        odd = isinstance(failure.reason, reasons.CannotBeSent)
        if (
            isinstance(failure, ENDED)
            or odd
            or not (loaded_file.solution and loaded_file.solution.worker.healthy)
        ):
            self._disconnect(loaded_file)
        if isinstance(failure, failures.TimedOut) and isinstance(
            loaded_file.submission, Submission
        ):
            step.culprit = loaded_file.culprit = self._endless(loaded_file.submission)
            step.where = loaded_file.loop = only_loop(step.culprit, loaded_file.submission)

    def _endless(self, submission: Submission) -> str:
        """The file that does not end: one that this one imports, or else itself."""
        for module in submission.sources:
            kata = next((k for k in self.catalog.ready if k.module == module), None)
            if kata is None or kata.name == submission.kata.name:
                continue
            loaded_file = self._file(kata)
            if not isinstance(loaded_file.submission, Submission):
                continue
            if not loaded_file.stops:
                self._probe(loaded_file, kata)
            if loaded_file.stops:
                return kata.file
        return submission.kata.file

    def _probe(self, loaded_file: _LoadedFile, kata: Kata) -> None:
        """Ask the least of every function of a file, and count it when one has to be stopped."""
        for name in kata.functions:
            try:
                solution = self._connect(loaded_file, kata)
                solution.call_seconds = CALL_SECONDS
                if name in PROBES:
                    solution.ask(name, PROBES[name], {})
            except failures.TimedOut:
                loaded_file.stops += 1
                self._disconnect(loaded_file)
                return
            except failures.CheckFailed:
                continue

    def _file(self, kata: Kata) -> _LoadedFile:
        loaded_file = self._files.get(kata.name)
        if loaded_file is None:
            submission = read_submission(
                self.catalog, kata, self.space.path(kata), self.space.shown(kata)
            )
            loaded_file = self._files[kata.name] = _LoadedFile(submission)
        return loaded_file

    def _connect(self, loaded_file: _LoadedFile, kata: Kata) -> _LastingSolution:
        """The functions of this file in a process that has loaded it. Raises CheckFailed."""
        if loaded_file.failure is not None:
            raise loaded_file.failure
        key = kata.name if self._processes.forks else kata.banned
        if loaded_file.solution is not None and self._loaded.get(key) == kata.name:
            return loaded_file.solution
        assert isinstance(loaded_file.submission, Submission)
        worker = self._processes.take((id(self), key), kata.banned)
        reference = self._homes[kata.functions[0]].reference
        solution = _LastingSolution(
            loaded_file.submission, reference, worker, "cpu", set(), CALL_SECONDS
        )
        loaded_file.solution, loaded_file.seconds_used = solution, 0.0
        try:
            problem = wrong_definition(loaded_file.submission, solution.load())
            if problem is not None:
                raise failures.CheckFailed(problem)
        except failures.CheckFailed as failure:
            loaded_file.failure = failure
            raise
        self._loaded[key] = kata.name
        return solution

    def _disconnect(self, loaded_file: _LoadedFile) -> None:
        if loaded_file.solution is not None and (
            self._processes.forks or not loaded_file.solution.worker.healthy
        ):
            self._processes.dismiss(loaded_file.solution.worker)
        loaded_file.solution = None


def _homes(catalog: Catalog) -> Iterator[tuple[str, LoadedKata]]:
    """Every function that the page draws: from these katas, or else from those that ship."""
    names: set[str] = set()
    for source in (catalog, load_catalog()):
        for kata in source.ready:
            try:
                reference = load_module(kata.reference)
            except Unloadable:  # it concerns only the pictures of this kata
                continue
            for name in kata.functions:
                if name not in names and hasattr(reference, name):
                    names.add(name)
                    yield name, LoadedKata(kata if source is catalog else None, reference)


def _from_verdict(step: Step, verdict: v.Verdict) -> None:
    """What there is to say of a file that was never loaded."""
    step.message = words.verdict(verdict)
    if verdict.outcome == v.NOT_STARTED:
        step.message = words.reason(reasons.NotWritten(step.function))
        return
    step.state = BROKEN
    step.exception = verdict.raised.type if verdict.raised else ""
    step.where = verdict.raised.where if verdict.raised else None


def _slope(
    reference: Any, args: tuple[Any, ...], kwargs: dict[str, Any], upstream: torch.Tensor
) -> torch.Tensor:
    first = args[0].detach().clone().requires_grad_()
    answer = reference(first, *args[1:], **kwargs)
    slope: torch.Tensor = torch.autograd.grad(answer, first, upstream)[0]
    return slope


def _other_kind(answer: torch.Tensor, right: torch.Tensor) -> reasons.WrongDtype | None:
    """Why numbers of this kind cannot be compared with the right ones, of any shape; or None."""
    if answer.is_floating_point() or (not answer.is_complex() and not right.is_floating_point()):
        return None
    return reasons.WrongDtype(dtype_name(answer), dtype_name(right), of_input=False)


def _why(failure: failures.CheckFailed) -> str:
    """The reason of a failure in one line, with its place."""
    raised, reason = failure.raised, failure.reason
    if raised is None:
        inner = reason.reason if isinstance(reason, reasons.BackwardFailed) else reason
        return words.reason(inner)
    message = f"{raised.type}: {raised.message[:MESSAGE_CAP]}"
    return f"{message} ({raised.where.file}:{raised.where.line})" if raised.where else message
