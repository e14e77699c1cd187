"""The judge's side of one sandbox worker: ask it, read what it printed, end it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from attention_katas.sandbox import frames, usage
from attention_katas.sandbox.channel import Channel, Flooded
from attention_katas.sandbox.limits import Limits
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import Unjudged

MAIN = Path(__file__).parent / "__main__.py"
START_SECONDS = 120.0
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
# These choose numeric kernels and devices, and Windows cannot start a process without SYSTEMROOT.
INHERITED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "CUDA_VISIBLE_DEVICES", "SYSTEMROOT")


class WorkerDied(Exception):
    """The process ended before it answered. `reason` says how."""

    def __init__(self, reason: reasons.Reason) -> None:
        super().__init__(repr(reason))
        self.reason = reason


class WorkerTimedOut(Exception):
    """No answer came in time. `seconds` is the limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class LimitExceeded(Exception):
    """The process took more memory or more threads than it may. `reason` says which."""

    def __init__(self, reason: reasons.MemoryExceeded | reasons.TooManyThreads) -> None:
        super().__init__(repr(reason))
        self.reason = reason


class Starved(Unjudged):
    """The machine gave the process too little time for a verdict: not the code's fault."""


class Worker:
    """One sandbox worker: ask it, read what it printed, end it.

    key: what it was taken for; a spawned worker serves one submission.
    pid: of the process; 0 until it has greeted.
    restrictions: the names of those that hold in it.
    healthy: whether it can be asked again.
    """

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self.limits = limits
        self.key: object = None
        self.pid = 0
        self.restrictions: list[str] = []
        self.healthy = True
        self._channel = channel

    def end(self) -> reasons.Reason:
        """Kill the process; returns how it ended. Filled in by the subclass."""
        raise NotImplementedError

    def dismiss(self) -> None:
        """End the process when nobody cares how."""
        self.end()
        self.close()

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()

    def greet(self, key: object, seconds: float = START_SECONDS) -> None:
        """Read the greeting of a new process: its pid and its restrictions."""
        try:
            hello, _ = self._next(seconds)
        except TimeoutError:
            self.healthy = False
            self.end()
            raise WorkerTimedOut(seconds) from None
        self.restrictions = [str(name) for name in hello["restrictions"]]
        self.pid = int(hello["pid"])
        self.key = key

    def ask(
        self, message: dict[str, Any], tensors: dict[str, Any] | None = None, *, seconds: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Send a request and wait for its answer.

        tensors: of any shapes, by the names in the message.
        Raises WorkerDied, WorkerTimedOut, LimitExceeded or Starved; after each the process is gone.
        """
        from attention_katas.sandbox import wire

        self.send(wire.encode(message, tensors))
        answer = self.receive(seconds)
        if usage.threads(self.pid) > usage.THREADS:
            self._fail_for_threads()
        return answer

    def _fail_for_threads(self) -> NoReturn:
        self.healthy = False
        self.end()
        raise LimitExceeded(reasons.TooManyThreads(usage.THREADS))

    def send(self, frame: bytes) -> None:
        """Send a request. Raises WorkerDied."""
        try:
            self._channel.send(frame)
        except OSError:
            self._fail()
        except Flooded:
            self._fail(flooded=True)

    def receive(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next answer. Raises as `ask`.

        seconds: what the code may take, counted as in `usage`.
        """
        try:
            return self._next(min(usage.PACE, seconds))
        except TimeoutError:
            monitor = usage.UsageMonitor(self.pid, seconds, self.limits.interactive)
        while True:
            try:
                return self._next(usage.PACE)
            except TimeoutError:
                monitor.look()
                self._stop_if_over(monitor)

    def _stop_if_over(self, monitor: usage.UsageMonitor) -> None:
        over: Exception | None = None
        if monitor.out_of_time:
            over = WorkerTimedOut(monitor.seconds)
        elif monitor.starved:
            busy = reasons.MachineBusy(monitor.worked, monitor.wall)
            over = Starved(busy, steps.CloseOtherPrograms())
        elif self.limits.memory_mb and monitor.grown > (self.limits.memory_mb << 20):
            over = LimitExceeded(reasons.MemoryExceeded(self.limits.memory_mb))
        elif monitor.threads > usage.THREADS:
            over = LimitExceeded(reasons.TooManyThreads(usage.THREADS))
        if over is not None:
            self.healthy = False
            self.end()
            raise over

    def _next(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """The next message. Raises TimeoutError or WorkerDied."""
        from attention_katas.sandbox import wire

        try:
            answer = self._channel.receive(seconds)
        except Flooded:
            self._fail(flooded=True)
        if answer is None:
            self._fail()
        try:
            if isinstance(answer, frames.BadFrame):
                raise answer
            return wire.decode(*answer)
        except frames.BadFrame:
            self.healthy = False
            self.end()
            raise WorkerDied(reasons.BadReply()) from None

    def printed(self) -> str:
        """What the code printed since the last time this was called."""
        output = self._channel.printed(ended=not self.healthy)
        text = output.decode("utf-8", "backslashreplace")
        if len(output) >= self.limits.kept_bytes:
            text += "\n... (the rest is not shown)"
        return text

    def _fail(self, flooded: bool = False) -> NoReturn:
        self.healthy = False
        how = self.end()
        if flooded:
            how = reasons.TooMuchOutput(self.limits.output_bytes >> 20)
        raise WorkerDied(how)


def how_it_ended(status: int) -> reasons.ProcessKilled | reasons.ProcessExited:
    """How a process ended, from its wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        names = {int(each): each.name for each in signal.Signals}
        return reasons.ProcessKilled(names.get(number, f"signal {number}"))
    return reasons.ProcessExited(os.WEXITSTATUS(status))


def command(mode: str, hidden: Sequence[Path], limits: Limits, device: str) -> list[str]:
    """The command line of a worker or a fork server; see `__main__` for the mode."""
    memory = limits.memory_mb if device == "cpu" else 0
    return [sys.executable, "-I", "-B", str(MAIN), mode, str(memory), *map(str, hidden)]


def environment() -> dict[str, str]:
    """The environment variables of a worker before it clears them."""
    variables = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**variables, **ONE_THREAD}


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a child process and wait for its end."""
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
