"""The learner's functions, alive: each kata's file in a sandbox worker of its own.

A process is the same as the judge's: locked, limited, with the kata's bans, killable. It is kept
from one drag to the next and replaced when the file changes, and by a spare that stands ready when
it had to be stopped.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attention_katas.errors import CouldNotGrade
from attention_katas.judge import failures
from attention_katas.judge.modules import load_module
from attention_katas.judge.proxy import Call, RemoteSolution, mapped
from attention_katas.lab import json_numbers
from attention_katas.packs.catalog import Catalog, Kata, load_catalog
from attention_katas.packs.families import Family
from attention_katas.packs.precheck import files_read, read_submission
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.spawned_workers import SpawnedWorkers
from attention_katas.sandbox.start import Workers, start_workers
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, words

CALL_SECONDS = 0.4  # for one call while somebody drags: a loop is over within a second
MEASURE_SECONDS = 5.0  # for one call that is timed
STOPS = 3  # so often is a file tried again that had to be stopped
RENEW_SECONDS = 40.0  # of calls, after which a process is replaced: its processor time is limited
SAID = 400

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

# What became of a step.
YOURS, UNWRITTEN, RAISED, STOPPED, SHAPE, DTYPE, BROKEN = (
    "yours", "unwritten", "raised", "stopped", "shape", "dtype", "broken"
)  # fmt: skip
# After these the process is no more.
ENDED = (failures.TimedOut, failures.Crashed, failures.OutOfMemory)


@dataclass
class Step:
    """One answer, beside the reference's.

    function, file, kata: who gave it.
    state: one of the constants above.
    right: what the reference says, all the way from the right inputs.
    alone: what it says for the inputs that the learner's function got.
    yours: the learner's answer.
    said: why there is no answer, in words.
    exception: the class of the exception that was raised.
    returned_nothing: the function returned None.
    where: the line that stopped it.
    gradient, right_gradient: what `backward` sent to the first input, if that was asked for.
    backward: why no gradient came, in words.
    seconds: of the call itself.
    printed, printers: what was printed, and the files that may have done it.
    culprit: the file that had to be stopped.
    """

    function: str
    file: str
    kata: str
    state: str
    right: torch.Tensor
    alone: torch.Tensor
    yours: torch.Tensor | None = None
    said: str = ""
    exception: str = ""
    returned_nothing: bool = False
    where: v.Frame | None = None
    gradient: torch.Tensor | None = None
    right_gradient: torch.Tensor | None = None
    backward: str = ""
    seconds: float = 0.0
    printed: str = ""
    printers: str = ""
    culprit: str = ""

    @property
    def agrees(self) -> bool:
        """With the reference, all the way from the right inputs."""
        return self.yours is not None and json_numbers.close(self.yours, self.right)

    @property
    def is_right_alone(self) -> bool:
        """With the reference, on the inputs that it got."""
        return self.yours is not None and json_numbers.close(self.yours, self.alone)

    @property
    def value(self) -> torch.Tensor:
        """What the next step gets: the learner's answer if there is one."""
        return self.right if self.yours is None else self.yours

    def shown(self, part: Any = None) -> dict[str, Any]:
        """As JSON. part: the indices of what is shown of it."""

        def cut(tensor: torch.Tensor) -> Any:
            return json_numbers.cells(tensor if part is None else tensor[part])

        told = {**self.words(), "right": cut(self.right)}
        if self.yours is not None:
            told["yours"] = cut(self.yours)
            told["agrees"] = self.agrees
            told["alone"] = self.is_right_alone
            told["finite"] = bool(torch.isfinite(self.yours).all())
        return told

    def words(self) -> dict[str, Any]:
        """What there is to say of it besides numbers."""
        told: dict[str, Any] = {
            "function": self.function,
            "file": self.file,
            "kata": self.kata,
            "state": self.state,
        }
        if self.said:
            told["said"] = self.said
            told["exception"] = self.exception
            told["returned_nothing"] = self.returned_nothing
        if self.where is not None:
            told["where"] = {
                "file": self.where.file, "line": self.where.line, "code": self.where.code.strip()
            }  # fmt: skip
        if self.backward:
            told["backward"] = self.backward
        if self.printed:
            told["printed"] = self.printed
            told["printers"] = self.printers or self.file
        if self.culprit:
            told["culprit"] = self.culprit
        return told


class _Talk(RemoteSolution):
    """A conversation that goes on for hours: nothing of it is kept from call to call."""

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
        told = reply.get("seconds")
        self.seconds = told if isinstance(told, float) and 0 <= told < math.inf else 0.0
        super()._note(call, reply, sent)


@dataclass
class _LoadedSeat:
    """One kata's file as it stands, and the conversation with the process that has loaded it."""

    found: Submission | v.Verdict | None = None
    talk: _Talk | None = None
    refused: failures.CheckFailed | None = None
    stops: int = 0
    stops_back: int = 0  # of backward: the answers are drawn all the same
    culprit: str = ""
    loop: v.Frame | None = None
    spent: float = 0.0


@dataclass(frozen=True)
class LoadedKata:
    """Where a function belongs: its kata, if these katas have it, and the reference."""

    kata: Kata | None
    reference: ModuleType


class Processes:
    """Where sandbox workers come from; several threads may ask."""

    def __init__(self, hidden: Sequence[Path], spawn: bool = False) -> None:
        self._stack = contextlib.ExitStack()
        self._hidden, self._spawn = hidden, spawn
        self._lock = threading.Lock()
        self._others: dict[tuple[object, tuple[Family, ...]], Workers] = {}
        self._first = self._start()
        self.forks = not isinstance(self._first, SpawnedWorkers)
        self._unused: Workers | None = self._first

    def _start(self) -> Workers:
        return self._stack.enter_context(
            start_workers(self._hidden, spawn=self._spawn, limits=Limits(interactive=True))
        )

    def expect(self, bans: Sequence[Family]) -> None:
        with self._lock:
            self._first.expect(bans)

    def take(self, key: object, bans: Sequence[Family]) -> Any:
        with self._lock:
            try:
                return self._take(key, bans)
            except CouldNotGrade:  # somebody ended the fork server; another one runs by now
                return self._take(key, bans)

    def _take(self, key: object, bans: Sequence[Family]) -> Any:
        if self.forks:
            return self._first.take(key, bans)
        # One that is spawned serves all katas with the same bans, for it takes seconds to make.
        mine = (key, tuple(bans))
        if mine not in self._others:
            self._others[mine], self._unused = self._unused or self._start(), None
        return self._others[mine].take("lab", bans)

    def dismiss(self, worker: Any) -> None:
        with self._lock, contextlib.suppress(OSError):
            worker.dismiss()

    def close(self) -> None:
        self._stack.close()


class References:
    """In the place of a workspace: the file of every kata is its reference."""

    def path(self, kata: Kata) -> Path:
        return kata.reference

    def shown(self, kata: Kata) -> str:
        return f"reference/{kata.file}"


class LiveFunctions:
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
        self._seats: dict[str, _LoadedSeat] = {}
        self._loaded: dict[object, str] = {}
        self._twin: LiveFunctions | None = None

    def home(self, function: str) -> LoadedKata:
        return self._homes[function]

    def duplicate(self) -> LiveFunctions:
        """The references, called as the learner's functions are, to be measured beside them."""
        if self._twin is None:
            self._twin = LiveFunctions(self.catalog, References(), self._processes)
        return self._twin

    def forget(self, names: set[str]) -> None:
        """These files have changed: whatever came from them is to be loaded again."""
        for name, seat in list(self._seats.items()):
            if files_read(self.catalog[name], seat.found) & names:
                self._leave(seat)
                del self._seats[name]

    def clock(self, function: str, args: tuple[Any, ...], seconds: float) -> float | None:
        """Seconds of one more call of what has answered before; None if it does not answer."""
        kata = self._homes[function].kata
        seat = self._seats.get(kata.name) if kata else None
        if kata is None or seat is None:
            return None
        with contextlib.suppress(failures.CheckFailed):
            talk = self._talk(seat, kata)
            talk.call_seconds = seconds
            talk.ask(function, args, {})
            return talk.seconds
        return None

    def renew(self, function: str) -> None:
        """A fresh process for this function's kata."""
        kata = self._homes[function].kata
        seat = self._seats.get(kata.name) if kata else None
        if seat is not None:
            self._leave(seat)

    def peak(self, function: str) -> int:
        """Bytes that the process of this function's kata has had at most; 0 if nobody says."""
        kata = self._homes[function].kata
        seat = self._seats.get(kata.name) if kata else None
        return _peak(seat.talk.worker.pid) if seat and seat.talk else 0

    def load(self, function: str) -> None:
        """Have this function's file loaded before it is called."""
        kata = self._homes[function].kata
        if kata is not None:
            seat = self._seat(kata)
            if isinstance(seat.found, Submission) and seat.refused is None:
                with contextlib.suppress(failures.CheckFailed):
                    self._talk(seat, kata)

    def close(self) -> None:
        for seat in self._seats.values():
            self._leave(seat)
        self._seats.clear()
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
            step.said = f"these katas do not ask for {function}"
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
        seat = self._seat(kata)
        if isinstance(seat.found, v.Verdict):
            _from_verdict(step, seat.found)
            return
        assert isinstance(seat.found, Submission)
        if step.function in seat.found.unwritten[kata.module]:
            step.said = f"{step.function} is not written yet"
            return
        if seat.stops >= STOPS:
            step.state = STOPPED
            step.culprit, step.where = seat.culprit or kata.file, seat.loop
            step.said = f"stopped {STOPS} times; save {step.culprit} to try again"
            return
        if gradient_of is not None:
            args = (args[0].clone().requires_grad_(), *args[1:])
        started = time.monotonic()
        try:
            answer = self._ask(step, seat, kata, args, kwargs, seconds)
            if answer.shape != step.right.shape:
                step.state = SHAPE
                step.said = f"returned shape {_shape(answer)}, expected {_shape(step.right)}"
            elif said := _other_kind(answer, step.right):
                step.state, step.said = DTYPE, said
            else:
                step.state, step.yours = YOURS, answer
                if gradient_of is not None:
                    self._send_back(step, seat, gradient_of)
        except failures.CheckFailed as failure:
            self._failed(step, seat, failure)
        finally:
            seat.spent += time.monotonic() - started
            if seat.talk is not None:
                step.printed = seat.talk.worker.printed()[-SAID:]
                step.printers = " or ".join(_printers(seat.found)) if step.printed else ""
                if seat.spent > RENEW_SECONDS:
                    self._leave(seat)

    def _ask(
        self,
        step: Step,
        seat: _LoadedSeat,
        kata: Kata,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        seconds: float,
    ) -> Any:
        """The answer. That a fork server ended is not the file's fault: ask another."""
        for again in (True, False):
            try:
                talk = self._talk(seat, kata)
                talk.call_seconds = seconds
                answer: Any = talk.ask(step.function, args, kwargs)
                break
            except failures.Crashed as failure:
                if failure.reason != reasons.ProcessGone() or not again:
                    raise
                self._leave(seat)
                seat.refused = None
        step.seconds = talk.seconds
        return answer

    def _send_back(self, step: Step, seat: _LoadedSeat, upstream: torch.Tensor) -> None:
        """The gradient that the learner's backward sends to the first input."""
        assert seat.talk is not None
        assert step.yours is not None
        if seat.stops_back >= STOPS:
            step.backward = f"stopped {STOPS} times; save {step.file} to try again"
            return
        try:
            sent = seat.talk.gradients(1, seat.talk.calls[-1], [upstream.to(step.yours.dtype)])
        except failures.CheckFailed as failure:
            step.backward = _why(failure)
            if isinstance(failure, ENDED):
                seat.stops_back += 1
                self._leave(seat)
            return
        found = sent[0] if sent else None
        if found is None or found.shape != upstream.shape or not found.is_floating_point():
            step.backward = "no gradient came back"
            return
        step.gradient = found

    def _failed(self, step: Step, seat: _LoadedSeat, failure: failures.CheckFailed) -> None:
        step.state, step.said = RAISED, words.reason(failure.reason)
        if failure is seat.refused:
            step.state = BROKEN
        if failure.reason == reasons.ReturnedNone():
            step.returned_nothing = True
            step.said = f"{step.function} returned nothing: is a return missing?"
        raised = failure.raised
        if raised is not None:
            step.exception, step.where = raised.type, raised.where
            if isinstance(failure.reason, reasons.RaisedException) and raised.message:
                step.said = raised.message[:SAID]
        if isinstance(failure, failures.TimedOut):
            step.state = STOPPED
        if isinstance(failure, ENDED):
            seat.stops += 1
        # An answer that cannot travel stays in the way of the next one.
        odd = isinstance(failure.reason, reasons.CannotTravel)
        if isinstance(failure, ENDED) or odd or not (seat.talk and seat.talk.worker.healthy):
            self._leave(seat)
        if isinstance(failure, failures.TimedOut) and isinstance(seat.found, Submission):
            step.culprit = seat.culprit = self._endless(seat.found)
            step.where = seat.loop = _only_loop(step.culprit, seat.found)

    def _endless(self, found: Submission) -> str:
        """The file that does not end: one that this one imports, or else itself."""
        for module in found.sources:
            kata = next((each for each in self.catalog.ready if each.module == module), None)
            if kata is None or kata.name == found.kata.name:
                continue
            seat = self._seat(kata)
            if not isinstance(seat.found, Submission):
                continue
            if not seat.stops:
                self._probe(seat, kata)
            if seat.stops:
                return kata.file
        return found.kata.file

    def _probe(self, seat: _LoadedSeat, kata: Kata) -> None:
        """Ask the least of every function of a file, and count it when one has to be stopped."""
        for name in kata.functions:
            try:
                talk = self._talk(seat, kata)
                talk.call_seconds = CALL_SECONDS
                if name in PROBES:
                    talk.ask(name, PROBES[name], {})
            except failures.TimedOut:
                seat.stops += 1
                self._leave(seat)
                return
            except failures.CheckFailed:
                continue

    def _seat(self, kata: Kata) -> _LoadedSeat:
        seat = self._seats.get(kata.name)
        if seat is None:
            found = read_submission(
                self.catalog, kata, self.space.path(kata), self.space.shown(kata)
            )
            seat = self._seats[kata.name] = _LoadedSeat(found)
        return seat

    def _talk(self, seat: _LoadedSeat, kata: Kata) -> _Talk:
        """The conversation with a process that has this file loaded. Raises CheckFailed."""
        if seat.refused is not None:
            raise seat.refused
        key = kata.name if self._processes.forks else kata.banned
        if seat.talk is not None and self._loaded.get(key) == kata.name:
            return seat.talk
        assert isinstance(seat.found, Submission)
        worker = self._processes.take((id(self), key), kata.banned)
        reference = self._homes[kata.functions[0]].reference
        talk = _Talk(seat.found, reference, worker, "cpu", set(), CALL_SECONDS)
        seat.talk, seat.spent = talk, 0.0
        try:
            told = talk.load()
        except failures.CheckFailed as failure:
            seat.refused = failure
            raise
        missing = [name for name in kata.functions if told["functions"].get(name) != "function"]
        if missing:
            seat.refused = failures.CheckFailed(reasons.FunctionMissing(kata.file, missing[0]))
            raise seat.refused
        self._loaded[key] = kata.name
        return talk

    def _leave(self, seat: _LoadedSeat) -> None:
        if seat.talk is not None and (self._processes.forks or not seat.talk.worker.healthy):
            self._processes.dismiss(seat.talk.worker)
        seat.talk = None


def _homes(catalog: Catalog) -> Iterator[tuple[str, LoadedKata]]:
    """Every function that the page draws: from these katas, or else from those that ship."""
    known: set[str] = set()
    for each in (catalog, load_catalog()):
        for kata in each.ready:
            reference = load_module(kata.reference)
            for name in kata.functions:
                if name not in known and hasattr(reference, name):
                    known.add(name)
                    yield name, LoadedKata(kata if each is catalog else None, reference)


def _printers(found: Submission) -> list[str]:
    """Which of the files print; the file itself, if none seems to."""
    files = [f"{name}.py" for name, text in found.sources.items() if _prints(text)]
    return files or [found.kata.file]


def _prints(source: str) -> bool:
    with contextlib.suppress(SyntaxError, ValueError):
        names = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
        return any(node.id == "print" for node in names)
    return False


def _only_loop(file: str, found: Submission) -> v.Frame | None:
    """Where the loop of a file stands, if it has just one."""
    source = found.sources.get(file.removesuffix(".py"), "")
    with contextlib.suppress(SyntaxError, ValueError):
        loops = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.While | ast.For)]
        if len(loops) == 1:
            line = loops[0].lineno
            return v.Frame(file, line, source.splitlines()[line - 1])
    return None


def _from_verdict(step: Step, verdict: v.Verdict) -> None:
    """What there is to say of a file that was never loaded."""
    step.said = words.verdict(verdict)
    if verdict.outcome == v.NOT_STARTED:
        step.said = f"{step.function} is not written yet"
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


def _other_kind(answer: torch.Tensor, right: torch.Tensor) -> str:
    """In words, where numbers of this kind cannot be compared with the right ones."""
    if answer.is_floating_point() or (not answer.is_complex() and not right.is_floating_point()):
        return ""
    wanted = "a floating-point tensor" if right.is_floating_point() else f"{right.dtype}"
    return f"returned {answer.dtype}, expected {wanted}"


def _why(failure: failures.CheckFailed) -> str:
    """The reason of a failure in one line, with its place."""
    raised, reason = failure.raised, failure.reason
    if raised is None:
        inner = reason.reason if isinstance(reason, reasons.BackwardFailed) else reason
        return words.reason(inner)
    said = f"{raised.type}: {raised.message[:SAID]}"
    return f"{said} ({raised.where.file}:{raised.where.line})" if raised.where else said


def _shape(tensor: torch.Tensor) -> str:
    return f"({', '.join(map(str, tensor.shape))})"


def _peak(pid: int) -> int:
    """The most memory that a process has had, in bytes (Linux)."""
    try:
        told = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    lines = (line.split() for line in told.splitlines() if line.startswith("VmHWM:"))
    return next((int(words[1]) << 10 for words in lines), 0)
