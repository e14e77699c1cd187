"""A fork server, and workers forked ahead of need: every check gets a process of its own."""

from __future__ import annotations

import collections
import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attention_katas.errors import CouldNotGrade
from attention_katas.packs.families import Family
from attention_katas.sandbox import frames
from attention_katas.sandbox.channel import SocketChannel
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.worker import (
    START_SECONDS,
    Worker,
    WorkerDied,
    WorkerTimedOut,
    command,
    end_process,
    environment,
    how_it_ended,
)
from attention_katas.verdict import reasons

Bans = tuple[Family, ...]
REPLY_SECONDS = 30.0


class ForkedWorkers:
    """A fork server, and workers forked ahead: every check gets a process of its own."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._templates: dict[Bans, _Template] = {}
        self._prepared: tuple[Bans, _Template] | None = None
        self._start()

    def _start(self) -> None:
        control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        arguments = command(str(far_end.fileno()), self.hidden, self.limits, self.device)
        self._control = control
        # In memory: a full disk must not keep anybody from a verdict. Closed with the fork server.
        self._log = open(os.memfd_create("kata-forkserver"), "w+b")  # noqa: SIM115
        self._process = subprocess.Popen(
            arguments,
            pass_fds=[far_end.fileno()],
            env=environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for us alone
        )
        far_end.close()
        self._started = False
        self._owner = True  # of the fork server; not so in a fork of the process that started it

    def _wait(self) -> None:
        """Wait until the fork server has imported torch. Raises CouldNotGrade if it fails."""
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
            lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
            last = lines[-1] if lines else "no message"
            raise CouldNotGrade(f"the sandbox worker did not start: {last}", "kata doctor")
        self._control.settimeout(REPLY_SECONDS)
        self._started = True

    def take(self, key: object, bans: Sequence[Family]) -> Worker:
        """A fresh process in which the bans hold and nothing has run yet."""
        self._wait()
        try:
            template = self._templates.get(tuple(bans)) or self._template(tuple(bans))
            return template.take(key)
        except (OSError, WorkerDied, WorkerTimedOut) as error:
            self.restart()
            raise CouldNotGrade(f"the fork server is gone ({error})", "kata doctor") from None

    def expect(self, bans: Sequence[Family], ahead: int = 0) -> None:
        """Have processes with these bans made as soon as the fork server is up.

        ahead: how many.
        """
        with contextlib.suppress(OSError):
            template = self._templates.get(tuple(bans)) or self._template(tuple(bans))
            template.fill(ahead or template.AHEAD)

    def prepare(self, bans: Sequence[Family], ahead: int) -> None:
        """Before the fork of a whole judge: have sandbox workers made to hand over."""
        key = tuple(bans)
        if self._prepared is not None and self._prepared[0] == key:
            self._prepared[1].fill(ahead)
            return
        self.release()
        self._wait()
        template = self._templates.get(key) or self._template(key)
        template.empty()
        self._prepared = (key, template.duplicate())
        self._prepared[1].fill(ahead)

    def adopt(self, bans: Sequence[Family]) -> None:
        """In that fork: use what was prepared; the fork server stays the other process's own."""
        key, self._owner = tuple(bans), False
        template = self._templates.get(key)
        if self._prepared is not None and self._prepared[0] == key:
            self._templates = {key: self._prepared[1]}
        else:
            # Only what needs no reply may be asked of a process that several talk to.
            self._templates = {key: template.duplicate()} if template else {}
        self._prepared = None

    def release(self) -> None:
        """In the process that was forked: let go of what was handed over."""
        if self._prepared is not None:
            self._prepared[1].close()
        self._prepared = None

    def _template(self, bans: Bans) -> _Template:
        self._templates[bans] = _open_template(self._control, bans, self.limits)
        return self._templates[bans]

    def give_back(self, worker: Worker) -> None:
        worker.dismiss()

    def restart(self) -> None:
        """A new fork server, after the old one was lost."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the fork server; everything that came from it dies with it."""
        for template in self._templates.values():
            template.close()
        self._templates.clear()
        self.release()
        self._control.close()
        self._log.close()
        if not self._owner:
            return
        # Hung up on, it ends its children and then itself; that takes a few milliseconds.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0 if self._started else 0.0)
        end_process(self._process)


def _request(control: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
    socket.send_fds(control, [frames.encode(request)], descriptors)


def _open_template(control: socket.socket, bans: Bans, limits: Limits) -> _Template:
    """A fork of the fork server, or of a template, that makes sandbox workers with these bans."""
    near_end, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near_end.settimeout(REPLY_SECONDS)
    try:
        _request(
            control,
            {"do": "template", "bans": [family.to_dict() for family in bans]},
            [far_end.fileno()],
        )
    except OSError:
        near_end.close()
        raise
    finally:
        far_end.close()
    return _Template(near_end, limits)


class _Template:
    """The judge's side of a template: sandbox workers made ahead of need."""

    AHEAD = 3

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control, self._limits = control, limits
        # Descriptors only: reading threads come with the taking, so that this process may fork.
        self._ready: collections.deque[tuple[socket.socket, int]] = collections.deque()
        self._lock = threading.Lock()

    def duplicate(self) -> _Template:
        """Another template with the same bans, as a fork of this one."""
        with self._lock:
            return _open_template(self._control, (), self._limits)

    def fill(self, ahead: int = AHEAD) -> None:
        while len(self._ready) < ahead:
            self._ready.append(self._make())

    def take(self, key: object) -> Worker:
        self.fill()
        worker = _Fork(self, *self._ready.popleft(), self._limits)
        try:
            worker.greet(key, REPLY_SECONDS)
        except (WorkerDied, WorkerTimedOut):
            worker.close()
            raise
        return worker

    def _make(self) -> tuple[socket.socket, int]:
        near_end, far_end = socket.socketpair()
        read_end, write_end = os.pipe()
        try:
            with self._lock:
                _request(self._control, {"do": "fork"}, [far_end.fileno(), write_end])
        except OSError:
            near_end.close()
            os.close(read_end)
            raise
        finally:
            far_end.close()
            os.close(write_end)
        return near_end, read_end

    def end(self, pid: int, *, tell: bool) -> reasons.Reason:
        """Kill a child through its parent, which alone knows that the pid is still its child."""
        with self._lock:
            try:
                self._control.send(frames.encode({"do": "end", "pid": pid, "tell": tell}))
                status = int(frames.decode(self._control.recv(1 << 16))["ended"]) if tell else -1
            except (OSError, frames.BadFrame):
                return reasons.ProcessGone()
        return how_it_ended(status) if status != -1 else reasons.ProcessGone()

    def empty(self) -> None:
        """Let go of those that were made ahead."""
        for line, output in self._ready:
            line.close()
            os.close(output)
        self._ready.clear()

    def close(self) -> None:
        self.empty()
        self._control.close()


class _Fork(Worker):
    def __init__(self, home: _Template, line: socket.socket, output: int, limits: Limits) -> None:
        self.home = home
        self._end: reasons.Reason | None = None
        super().__init__(SocketChannel(line, output, limits), limits)

    def end(self) -> reasons.Reason:
        if self._end is None:
            never = reasons.ProcessNeverStarted()
            self._end = self.home.end(self.pid, tell=True) if self.pid else never
        return self._end

    def dismiss(self) -> None:
        if self._end is None:
            self.home.end(self.pid, tell=False)
        self.close()
