"""The judge's end of the line to one learner process: ask it, read what it printed, end it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from attention_katas.errors import CouldNotGrade
from attention_katas.learner import frames, watch
from attention_katas.learner.limits import Limits

MAIN = Path(__file__).parent / "__main__.py"
START_SECONDS = 120.0
GONE = "the process is gone"
UNREAD = 2  # answers that may wait to be read: there is one for each question
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
# Which numeric kernels and devices to use is no secret, and Windows cannot start without its root.
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "CUDA_VISIBLE_DEVICES", "SYSTEMROOT")


class LearnerDied(Exception):
    """The process ended before it answered. `reason` says how, in words for the learner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LearnerTimedOut(Exception):
    """No answer came in time. `seconds` is the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class LearnerOutgrew(Exception):
    """The process took more memory or more threads than it may. `reason` says which."""

    def __init__(self, reason: str, memory: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.memory = memory


class Starved(CouldNotGrade):
    """The machine gave the process too little time for a verdict: not the code's fault."""


class Stream(Protocol):
    """The little of a binary file that a line needs."""

    def read(self, size: int, /) -> bytes | None: ...
    def write(self, data: bytes, /) -> int | None: ...
    def close(self) -> None: ...


class Learner:
    """One learner process: ask it, read what it printed, end it."""

    def __init__(self, requests: Stream, answers: Stream, output: Stream, limits: Limits) -> None:
        self.limits = limits
        self.key: object = None
        self.pid = 0
        self.locks: list[str] = []
        self.healthy = True
        self.flooded = False
        self._requests, self._answers, self._output = requests, answers, output
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._printed = bytearray()
        self._printed_size = 0
        self._quiet = threading.Event()
        for target in (self._read_answers, self._read_output):
            threading.Thread(target=target, daemon=True).start()

    def end(self) -> str:
        """Kill the process; returns how it ended, in words. Filled in by the subclass."""
        raise NotImplementedError

    def dismiss(self) -> None:
        """End the process when nobody cares how."""
        self.end()
        self.close_streams()

    def greet(self, key: object, seconds: float = START_SECONDS) -> None:
        """Hear from a new process which locks it has put on."""
        try:
            answer = self._frames.get(timeout=seconds)
        except queue.Empty:
            self.healthy = False
            self.end()
            raise LearnerTimedOut(seconds) from None
        hello, _ = self._understood(answer)
        self.locks = [str(lock) for lock in hello["locks"]]
        self.pid = int(hello["pid"])
        self.key = key

    def ask(
        self, message: dict[str, Any], tensors: dict[str, Any] | None = None, *, seconds: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Send a request and wait for its answer.

        Raises LearnerDied, LearnerTimedOut, LearnerOutgrew or Starved; after each the process is
        gone.
        """
        from attention_katas.learner import wire

        self.send(wire.encode(message, tensors))
        answer = self.receive(seconds)
        if watch.threads(self.pid) > watch.THREADS:
            self._outgrew_threads()
        return answer

    def _outgrew_threads(self) -> NoReturn:
        self.healthy = False
        self.end()
        raise LearnerOutgrew(f"it started more than {watch.THREADS} threads", memory=False)

    def send(self, frame: bytes) -> None:
        try:
            view = memoryview(frame)
            while view:
                view = view[self._requests.write(bytes(view)) or 0 :]
            flush = getattr(self._requests, "flush", None)
            if flush is not None:
                flush()
        except (OSError, ValueError):
            self._fail()

    def receive(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next answer. seconds: what the code may take, see `watch`."""
        try:
            return self._understood(self._frames.get(timeout=min(watch.PACE, seconds)))
        except queue.Empty:
            watched = watch.Watch(self.pid, seconds)
        while True:
            try:
                return self._understood(self._frames.get(timeout=watch.PACE))
            except queue.Empty:
                watched.look()
                self._stop_if_over(watched)

    def _stop_if_over(self, watched: watch.Watch) -> None:
        over: Exception | None = None
        if watched.out_of_time:
            over = LearnerTimedOut(watched.seconds)
        elif watched.starved:
            got = f"{watched.worked:.1f} s of processor time in {watched.wall:.0f} s"
            over = Starved(
                f"this machine is too busy to judge: your code got {got}",
                "close other programs, then run it again",
            )
        elif self.limits.memory_mb and watched.grown > (self.limits.memory_mb << 20):
            over = LearnerOutgrew(f"it took more than {self.limits.memory_mb} MB", memory=True)
        elif watched.threads > watch.THREADS:
            over = LearnerOutgrew(f"it started more than {watch.THREADS} threads", memory=False)
        if over is not None:
            self.healthy = False
            self.end()
            raise over

    def _understood(self, answer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from attention_katas.learner import wire

        if answer is None:
            self._fail()
        try:
            if isinstance(answer, frames.BadFrame):
                raise answer
            return wire.decode(*answer)
        except frames.BadFrame:
            self.healthy = False
            self.end()
            raise LearnerDied("it answered with something that is not an answer") from None

    def printed(self) -> str:
        """What the code printed since the last time this was called."""
        if not self.healthy:
            self._quiet.wait(1.0)
        kept, self._printed = self._printed, bytearray()
        text = kept.decode("utf-8", "backslashreplace")
        if len(kept) >= self.limits.kept_bytes:
            text += "\n... (the rest is not shown)"
        return text

    def _fail(self) -> None:
        self.healthy = False
        how = self.end()
        if self.flooded:
            how = f"it printed more than {self.limits.output_bytes >> 20} MiB"
        raise LearnerDied(how)

    def _read_answers(self) -> None:
        def read_exactly(size: int) -> bytes:
            parts = bytearray()
            while len(parts) < size:
                part = self._answers.read(min(size - len(parts), 1 << 20))
                if not part:
                    raise EOFError
                parts += part
            return bytes(parts)

        try:
            while True:
                self._frames.put(frames.read(read_exactly))
                if self._frames.qsize() > UNREAD:
                    raise frames.BadFrame("answers that nobody asked for")
        except frames.BadFrame as error:
            self._frames.put(error)
        except (EOFError, OSError, ValueError, AttributeError):  # the last: closed meanwhile
            self._frames.put(None)

    def _read_output(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while part := self._output.read(1 << 16):
                room = self.limits.kept_bytes - len(self._printed)
                self._printed += part[: max(room, 0)]
                self._printed_size += len(part)
                if self._printed_size > self.limits.output_bytes and not self.flooded:
                    self.flooded = True
                    self.end()
        self._quiet.set()

    def close_streams(self) -> None:
        for stream in (self._requests, self._answers, self._output):
            with contextlib.suppress(OSError):
                stream.close()


def how_it_ended(status: int) -> str:
    """How a process ended, from its wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        known_signals = {int(one): one.name for one in signal.Signals}
        name = known_signals.get(number, f"signal {number}")
        known = {"SIGSEGV": "segmentation fault", "SIGABRT": "abort", "SIGXCPU": "processor time"}
        return f"the process was ended by {name}" + (f" ({known[name]})" if name in known else "")
    return f"the process exited by itself with status {os.WEXITSTATUS(status)}"


def command(mode: str, hidden: Sequence[Path], limits: Limits, device: str) -> list[str]:
    memory = limits.memory_mb if device == "cpu" else 0
    return [sys.executable, "-I", "-B", str(MAIN), mode, str(memory), *map(str, hidden)]


def environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, **ONE_THREAD}


def end_process(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
