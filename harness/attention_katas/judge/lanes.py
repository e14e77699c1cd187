"""Two examiners for one submission, side by side: the checks of a kata on two processor cores.

While a learner process works its examiner waits, and the other way round, so one core idles. A
second lane is a fork of the examiner with learner processes of its own. Which lane makes which
check is decided as they go: both take the next one from a queue. The outcome of a check does not
depend on its lane, since its inputs come from the seed and its own name; laws, which count only
once the values are right, come when both lanes are through with everything else.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import pickle
import select
import signal
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from attention_katas.errors import CouldNotGrade
from attention_katas.judge.fixtures import RunContext
from attention_katas.judge.pytest_session import Session
from attention_katas.packs.families import Family
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import frames, stdio
from attention_katas.sandbox.forked_workers import ForkedWorkers
from attention_katas.sandbox.restrictions import linux

Begin = Callable[[Submission, int], tuple[Sequence[pytest.Function], RunContext]]
MOST = 255  # checks that a queue of single bytes can hold


@dataclass
class Share:
    """What one lane found out: by the number of the check, and about the submission as a whole."""

    entries: dict[int, dict[str, Any]] = field(default_factory=dict)
    recorded_calls: dict[int, list[Any]] = field(default_factory=dict)
    failed: dict[int, list[Any]] = field(default_factory=dict)
    hung: set[str] = field(default_factory=set)
    audit: list[str] = field(default_factory=list)
    ours: tuple[str, str] | None = None


def can_run(items: Sequence[pytest.Item]) -> bool:
    """Whether a second lane would have a core to itself, and enough to do."""
    return _cores() > 1 and 3 < len(items) <= MOST


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Lane:
    """A second examiner that waits for its part of a submission: a fork of this process.

    begin: makes a round of a submission and a seed, and says which checks there are. rehearse: what
    to do until there is something to do, in small steps. Raises OSError when it cannot be had.
    """

    def __init__(
        self,
        session: Session,
        workers: ForkedWorkers,
        bans: Sequence[Family],
        begin: Begin,
        dry_run: Iterable[None] = (),
    ) -> None:
        self.session, self.workers, self.bans, self.begin = session, workers, bans, begin
        self.line, self._theirs = socket.socketpair()
        self.plain, self._plain = os.pipe()
        self.later, self._later = os.pipe()
        try:
            workers.second_line(bans)
            with warnings.catch_warnings():
                # Of forking beside other threads.
                warnings.simplefilter("ignore", DeprecationWarning)
                parent, self.pid = os.getpid(), os.fork()
        except OSError:
            self._theirs.close()
            self._close()
            workers.forget_second_line()
            raise
        if not self.pid:
            self._live(parent, dry_run)
        self._theirs.close()
        workers.forget_second_line()

    def start(self, submission: Submission, seed: int, items: Sequence[pytest.Function]) -> None:
        """Put the checks into the queues that both lanes take from."""
        laws = [n for n, item in enumerate(items) if item.get_closest_marker("law")]
        os.write(self._plain, bytes(n for n in range(len(items)) if n not in set(laws)))
        os.write(self._later, bytes(laws))
        for writer in (self._plain, self._later):
            os.close(writer)
        self._plain = self._later = -1
        with contextlib.suppress(OSError):  # it is gone; then all is done here
            _say(self.line, (submission, seed))

    def _close(self) -> None:
        self.line.close()
        for descriptor in (self.plain, self.later, self._plain, self._later):
            if descriptor >= 0:
                os.close(descriptor)

    def end(self) -> None:
        self._close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def _live(self, parent: int, dry_run: Iterable[None]) -> None:
        """Everything that the second lane does; it never returns."""
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                return
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first lane hears it, and ends this
            gc.disable()
            line = self._theirs
            for descriptor in (self._plain, self._later, self.line.detach()):
                os.close(descriptor)
            self.workers.take_second_line()
            for _ in dry_run:
                if is_spoken_to(line):
                    break
            submission, seed = _hear(line)
            items, current = self.begin(submission, seed)
            share = Share()
            _take_from(self.plain, self.session, items, current, share)
            _say(line, sorted(current.wrong))
            current.wrong |= set(_hear(line))
            _take_from(self.later, self.session, items, current, share)
            share.hung, share.audit = current.hung, current.audit
            if current.ours is not None:
                share.ours = (current.ours.message, current.ours.next_step)
            _say(line, share)
        finally:
            os._exit(0)


def run(
    lane: Lane, items: Sequence[pytest.Function], current: RunContext, session: Session
) -> list[dict[str, Any]]:
    """As Session.run, together with a second lane; `current` then knows what both have found."""
    share, other = Share(), Share()
    try:
        lane.start(current.submission, current.seed, items)
        _take_from(lane.plain, session, items, current, share)
        with contextlib.suppress(OSError, EOFError):  # then its share is made again below
            current.wrong |= set(_hear(lane.line))
            _say(lane.line, sorted(current.wrong))
        _take_from(lane.later, session, items, current, share)
        with contextlib.suppress(OSError, EOFError):
            other = _hear(lane.line)
        missing = [n for n in range(len(items)) if n not in share.entries | other.entries]
        if missing:
            again = _queue(missing)
            try:
                _take_from(again, session, items, current, share)
            finally:
                os.close(again)
    finally:
        lane.end()
    _merge(current, share, other, len(items))
    found = share.entries | other.entries
    return [found[n] for n in range(len(items))]


def is_spoken_to(line: socket.socket) -> bool:
    """Whether there is something to read, or the other end is gone."""
    return bool(select.select([line], [], [], 0)[0])


def _take_from(
    queue: int,
    session: Session,
    items: Sequence[pytest.Function],
    current: RunContext,
    share: Share,
) -> None:
    """Make checks until the queue is empty."""
    made: list[int] = []

    def following() -> Iterator[pytest.Function]:
        while number := os.read(queue, 1):
            made.append(number[0])
            recorded_calls, failed = len(current.recorded_calls), len(current.failed)
            yield items[number[0]]
            share.recorded_calls[number[0]] = current.recorded_calls[recorded_calls:]
            share.failed[number[0]] = current.failed[failed:]

    entries = session.run_each(following())
    share.entries.update(zip(made, entries, strict=True))


def _merge(current: RunContext, mine: Share, theirs: Share, count: int) -> None:
    """One round again, in the order of the checks."""
    recorded_calls, failed = (
        mine.recorded_calls | theirs.recorded_calls,
        mine.failed | theirs.failed,
    )
    current.recorded_calls = [remote for n in range(count) for remote in recorded_calls.get(n, ())]
    current.failed = [call for n in range(count) for call in failed.get(n, ())]
    current.hung |= theirs.hung
    current.audit += theirs.audit
    if theirs.ours is not None and current.ours is None:
        current.ours = CouldNotGrade(*theirs.ours)


def _queue(numbers: Sequence[int]) -> int:
    """A descriptor from which several processes read the numbers, each of them once."""
    reader, writer = os.pipe()
    os.write(writer, bytes(numbers))
    os.close(writer)
    return reader


class _Pickler(pickle.Pickler):
    """Between two processes of ours, forks of each other. Tensors travel as plain bytes."""

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return NotImplemented
        dense = value.detach().contiguous()
        data = dense.reshape(-1).view(torch.uint8).numpy().tobytes() if dense.numel() else b""
        return _tensor, (data, dense.dtype, tuple(value.shape), value.stride(), value.requires_grad)


def _tensor(
    data: bytes, dtype: torch.dtype, shape: tuple[int, ...], strides: tuple[int, ...], grad: bool
) -> torch.Tensor:
    flat = torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)
    placed = flat.reshape(shape)
    if 0 not in strides:  # an expanded tensor cannot be written to
        placed = torch.empty_strided(shape, strides, dtype=dtype).copy_(placed)
    return placed.requires_grad_(grad)


def _say(line: socket.socket, what: Any) -> None:
    written = io.BytesIO()
    _Pickler(written).dump(what)
    line.sendall(frames.PREFIX.pack(frames.MAGIC, 0, written.tell()) + written.getvalue())


def _hear(line: socket.socket) -> Any:
    read = stdio.exact_reader(line.fileno())
    _, _, size = frames.PREFIX.unpack(read(frames.PREFIX.size))
    return pickle.loads(read(size))  # noqa: S301 - written by a fork of this very process
