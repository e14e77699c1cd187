"""The judge's end of the line: start learner processes, ask them, end them.

`ForkedLearners` gives every check a fresh fork, made ahead of need. `SpawnedLearners` serves
systems where forking cannot: one process for one submission, and a warm spare for the next.
Both are used alike:

    with start_learners(...) as learners:
        learner = learners.take(submission_key, bans)
        reply, tensors = learner.ask({"do": "load", ...}, seconds=10)
        learners.give_back(learner)
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from attention_katas.errors import CouldNotGrade
from attention_katas.learner.limits import Limits

MAIN = Path(__file__).parent / "__main__.py"
START_SECONDS = 120.0
REPLY_SECONDS = 30.0
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

    def greet(self, key: object) -> None:
        """Hear from a new process which locks it has put on."""
        hello, _ = self.receive(START_SECONDS)
        self.locks = [str(lock) for lock in hello["locks"]]
        self.pid = int(hello["pid"])
        self.key = key

    def ask(
        self, message: dict[str, Any], tensors: dict[str, Any] | None = None, *, seconds: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Send a request and wait for its answer.

        Raises LearnerDied or LearnerTimedOut; after either the process is gone.
        """
        from attention_katas.learner import wire

        self.send(wire.encode(message, tensors))
        return self.receive(seconds)

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
        from attention_katas.learner import wire

        try:
            answer = self._frames.get(timeout=seconds)
        except queue.Empty:
            self.healthy = False
            self.end()
            raise LearnerTimedOut(seconds) from None
        if isinstance(answer, wire.BadFrame):
            self.healthy = False
            self.end()
            raise LearnerDied("it answered with something that is not an answer")
        if answer is None:
            self._fail()
        header, body = answer
        return header, body

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
        from attention_katas.learner import wire

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
                self._frames.put(wire.read(read_exactly))
        except wire.BadFrame as error:
            self._frames.put(error)
        except (EOFError, OSError, ValueError):
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


def _words(status: int) -> str:
    """How a process ended, from its wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        known = {"SIGSEGV": "segmentation fault", "SIGABRT": "abort", "SIGXCPU": "processor time"}
        return f"the process was ended by {name}" + (f" ({known[name]})" if name in known else "")
    return f"the process exited by itself with status {os.WEXITSTATUS(status)}"


def _command(mode: str, hidden: Sequence[Path], limits: Limits, device: str) -> list[str]:
    memory = limits.memory_mb if device == "cpu" else 0
    return [sys.executable, "-I", "-B", str(MAIN), mode, str(memory), *map(str, hidden)]


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed, **ONE_THREAD}


class ForkedLearners:
    """A zygote, and forks of it made ahead: every check gets a process of its own."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._nurseries: dict[tuple[str, ...], _Nursery] = {}
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = _command(str(theirs.fileno()), self.hidden, self.limits, self.device)
        self._control = ours
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=_environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        self._started = False

    def _wait(self) -> None:
        """Wait until the zygote has imported torch. Raises CouldNotGrade if it cannot start."""
        if self._started:
            return
        self._control.settimeout(START_SECONDS)
        try:
            ready = bool(self._control.recv(1 << 16))
        except OSError:
            ready = False
        if not ready:
            self._process.kill()
            said = self._process.stderr.read() if self._process.stderr else b""
            last = (said.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
            raise CouldNotGrade(f"the learner process did not start: {last}", "kata doctor")
        self._control.settimeout(REPLY_SECONDS)
        self._started = True

    def take(self, key: object, bans: Sequence[str]) -> Learner:
        """A fresh process in which the bans hold and nothing has run yet."""
        self._wait()
        try:
            nursery = self._nurseries.get(tuple(bans)) or self._template(tuple(bans))
            return nursery.take(key)
        except (OSError, LearnerDied, LearnerTimedOut) as error:
            self.restart()
            raise CouldNotGrade(f"the zygote is gone ({error})", "kata doctor") from None

    def expect(self, bans: Sequence[str]) -> None:
        """Have processes with these bans made as soon as the zygote is up."""
        with contextlib.suppress(OSError):
            self._template(tuple(bans)).fill()

    def _template(self, bans: tuple[str, ...]) -> _Nursery:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(REPLY_SECONDS)
        _request(self._control, {"do": "template", "bans": list(bans)}, [theirs.fileno()])
        theirs.close()
        self._nurseries[bans] = _Nursery(ours, self.limits)
        return self._nurseries[bans]

    def give_back(self, learner: Learner) -> None:
        learner.dismiss()

    def restart(self) -> None:
        """A new zygote, after the old one was lost."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the zygote; everything that came from it dies with it."""
        for nursery in self._nurseries.values():
            nursery.close()
        self._nurseries.clear()
        self._control.close()
        _end_process(self._process)


def _request(control: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
    socket.send_fds(control, [json.dumps(request).encode()], descriptors)


class _Nursery:
    """The judge's side of a template: learner processes made ahead of need."""

    AHEAD = 2

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control, self._limits = control, limits
        self._ready: collections.deque[_Fork] = collections.deque()
        self._lock = threading.Lock()

    def fill(self) -> None:
        while len(self._ready) <= self.AHEAD:
            self._ready.append(self._make())

    def take(self, key: object) -> Learner:
        self.fill()
        learner = self._ready.popleft()
        learner.greet(key)
        return learner

    def _make(self) -> _Fork:
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        with self._lock:
            _request(self._control, {"do": "fork"}, [theirs.fileno(), write_end])
        theirs.close()
        os.close(write_end)
        return _Fork(self, ours, read_end, self._limits)

    def end(self, pid: int, *, tell: bool) -> str:
        """Kill a child through its parent, which alone knows that the pid is still its child."""
        with self._lock:
            try:
                self._control.send(json.dumps({"do": "end", "pid": pid, "tell": tell}).encode())
                status = int(json.loads(self._control.recv(1 << 16))["ended"]) if tell else -1
            except (OSError, ValueError):
                return "the process is gone"
        return _words(status) if status != -1 else "the process is gone"

    def close(self) -> None:
        for learner in self._ready:
            learner.close_streams()
        self._control.close()


class _Fork(Learner):
    def __init__(self, home: _Nursery, line: socket.socket, output: int, limits: Limits) -> None:
        self.home, self._line = home, line
        self._ended = ""
        stream = line.makefile("rwb", buffering=0)
        super().__init__(stream, stream, os.fdopen(output, "rb", buffering=0), limits)

    def end(self) -> str:
        if not self._ended:
            self._ended = self.home.end(self.pid, tell=True) if self.pid else "it never started"
        return self._ended

    def dismiss(self) -> None:
        if not self._ended:
            self.home.end(self.pid, tell=False)
        self.close_streams()

    def close_streams(self) -> None:
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        super().close_streams()
        self._line.close()


class SpawnedLearners:
    """One process for one submission, and a warm spare for the next."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._spare: _Spawned | None = self._spawn()
        self._current: _Spawned | None = None

    def _spawn(self) -> _Spawned:
        command = _command("alone", self.hidden, self.limits, self.device)
        return _Spawned(command, self.limits)

    def expect(self, bans: Sequence[str]) -> None:
        """The spare takes any bans."""

    def take(self, key: object, bans: Sequence[str]) -> Learner:
        """The process of this submission, or the spare when it has none that still lives."""
        current = self._current
        if current is not None and current.healthy and current.key == (key, tuple(bans)):
            return current
        if current is not None:
            current.dismiss()
        learner = self._spare or self._spawn()
        self._spare = self._spawn()
        self._current = None
        try:
            learner.greet((key, tuple(bans)))
            learner.ask({"do": "prepare", "bans": list(bans)}, seconds=START_SECONDS)
        except (LearnerDied, LearnerTimedOut) as error:
            raise CouldNotGrade(
                f"the learner process did not start: {error}", "kata doctor"
            ) from None
        self._current = learner
        return learner

    def give_back(self, learner: Learner) -> None:
        """Kept for the next check of the same submission."""

    def close(self) -> None:
        for learner in (self._spare, self._current):
            if learner is not None:
                learner.dismiss()
        self._spare = self._current = None


class _Spawned(Learner):
    def __init__(self, command: list[str], limits: Limits) -> None:
        self._process = subprocess.Popen(
            command,
            env=_environment(),
            cwd=os.path.abspath(os.sep),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        super().__init__(process.stdin, process.stdout, process.stderr, limits)

    def end(self) -> str:
        deadline = time.monotonic() + 0.2
        while self._process.poll() is None and time.monotonic() < deadline and not self.healthy:
            time.sleep(0.005)
        _end_process(self._process)
        code = self._process.returncode
        if code < 0:
            return _words(-code)
        return f"the process exited by itself with status {code}"


def _end_process(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
    if process.stderr is not None and process.stdin is None:
        process.stderr.close()


def can_fork(device: str) -> bool:
    """Whether children can be forked after torch is imported: Linux, and no CUDA context."""
    return sys.platform == "linux" and device == "cpu"


Learners = ForkedLearners | SpawnedLearners


@contextlib.contextmanager
def start_learners(
    hidden: Sequence[Path],
    *,
    device: str = "cpu",
    spawn: bool = False,
    limits: Limits | None = None,
) -> Iterator[Learners]:
    """Learner processes for `device`. `spawn` forces the way of systems that cannot fork."""
    make = ForkedLearners if can_fork(device) and not spawn else SpawnedLearners
    learners = make(hidden, limits or Limits(), device)
    try:
        yield learners
    finally:
        learners.close()
