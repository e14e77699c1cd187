"""A zygote, and forks of it made ahead of need: every check gets a process of its own."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attention_katas.errors import CouldNotGrade
from attention_katas.learner.host import (
    GONE,
    START_SECONDS,
    Learner,
    LearnerDied,
    LearnerTimedOut,
    command,
    end_process,
    environment,
    how_it_ended,
)
from attention_katas.learner.limits import Limits

REPLY_SECONDS = 30.0


class ForkedLearners:
    """A zygote, and forks of it made ahead: every check gets a process of its own."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._nurseries: dict[tuple[str, ...], _Nursery] = {}
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        started = command(str(theirs.fileno()), self.hidden, self.limits, self.device)
        self._control = ours
        # In memory: a full disk must not keep anybody from a verdict. Closed with the zygote.
        self._log = open(os.memfd_create("kata-zygote"), "w+b")  # noqa: SIM115
        self._process = subprocess.Popen(
            started,
            pass_fds=[theirs.fileno()],
            env=environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for us alone
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
            self._log.seek(0)
            said = self._log.read().decode("utf-8", "replace").strip().splitlines()
            last = said[-1] if said else "no message"
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
        try:
            _request(self._control, {"do": "template", "bans": list(bans)}, [theirs.fileno()])
        except OSError:
            ours.close()
            raise
        finally:
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
        self._log.close()
        # Hung up on, it ends its children and then itself; that takes a few milliseconds.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0 if self._started else 0.0)
        end_process(self._process)


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
        try:
            learner.greet(key, REPLY_SECONDS)
        except (LearnerDied, LearnerTimedOut):
            learner.close_streams()
            raise
        return learner

    def _make(self) -> _Fork:
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        try:
            with self._lock:
                _request(self._control, {"do": "fork"}, [theirs.fileno(), write_end])
        except OSError:
            ours.close()
            os.close(read_end)
            raise
        finally:
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
                return GONE
        return how_it_ended(status) if status != -1 else GONE

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
