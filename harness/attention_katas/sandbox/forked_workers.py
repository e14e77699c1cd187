"""The judge's side of a fork server: every check gets a sandbox worker of its own."""

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
    """A fork server, and workers that it forks before they are needed: one for every check."""

    def __init__(self, hidden: Sequence[Path], limits: Limits, device: str = "cpu") -> None:
        self.hidden, self.limits, self.device = hidden, limits, device
        self._templates: dict[Bans, _Template] = {}
        self._prepared: tuple[Bans, _Template] | None = None
        self._start()

    def _start(self) -> None:
        self._control, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # In memory, so that a full disk does not prevent a verdict.
        self._log = open(os.memfd_create("kata-forkserver"), "w+b")  # noqa: SIM115
        self._process = subprocess.Popen(
            command(str(server_end.fileno()), self.hidden, self.limits, self.device),
            pass_fds=[server_end.fileno()],
            env=environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for this process alone
        )
        server_end.close()
        self._is_ready = False
        self._owner = True  # of the fork server; False in a fork of the process that started it

    def _wait(self) -> None:
        """Wait until the fork server has imported torch.

        Raises CouldNotGrade if it does not; then another one starts, for whoever tries again.
        """
        if self._is_ready:
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
            self.restart()
            raise CouldNotGrade(f"the sandbox worker did not start: {last}", "kata doctor")
        self._control.settimeout(REPLY_SECONDS)
        self._is_ready = True

    def take(self, key: object, bans: Sequence[Family]) -> Worker:
        """A new worker in which the bans hold and nothing has run. Raises CouldNotGrade."""
        self._wait()
        try:
            template = self._templates.get(tuple(bans)) or self._template(tuple(bans))
            return template.take(key)
        except (OSError, WorkerDied, WorkerTimedOut) as error:
            self.restart()
            raise CouldNotGrade(f"the fork server is gone ({error})", "kata doctor") from None

    def expect(self, bans: Sequence[Family], ahead: int = 0) -> None:
        """Have workers with these bans forked as soon as the fork server is ready.

        ahead: how many; 0 for the usual number.
        """
        with contextlib.suppress(OSError):
            template = self._templates.get(tuple(bans)) or self._template(tuple(bans))
            template.fill(ahead or template.AHEAD)

    def prepare(self, bans: Sequence[Family], ahead: int) -> None:
        """Before the fork of a whole judge: have workers forked that it can adopt."""
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
        """In that fork: use what was prepared. The fork server belongs to the other process."""
        key, self._owner = tuple(bans), False
        template = self._templates.get(key)
        if self._prepared is not None and self._prepared[0] == key:
            self._templates = {key: self._prepared[1]}
        else:
            # A process with several clients cannot be asked for replies, only for a duplicate.
            self._templates = {key: template.duplicate()} if template else {}
        self._prepared = None

    def release(self) -> None:
        """In the process that was forked: close what was handed over."""
        if self._prepared is not None:
            self._prepared[1].close()
        self._prepared = None

    def _template(self, bans: Bans) -> _Template:
        self._templates[bans] = _open_template(self._control, bans, self.limits)
        return self._templates[bans]

    def give_back(self, worker: Worker) -> None:
        """End the worker."""
        worker.dismiss()

    def restart(self) -> None:
        """Start a new fork server after the old one was lost."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the fork server and with it all its workers."""
        for template in self._templates.values():
            template.close()
        self._templates.clear()
        self.release()
        self._control.close()
        self._log.close()
        if not self._owner:
            return
        # When its socket is closed it ends its children and then itself, in a few milliseconds.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0 if self._is_ready else 0.0)
        end_process(self._process)


def _request(control: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
    socket.send_fds(control, [frames.encode(request)], descriptors)


def _open_template(control: socket.socket, bans: Bans, limits: Limits) -> _Template:
    """Fork the fork server, or a template, into a template of workers with these bans."""
    own_end, template_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own_end.settimeout(REPLY_SECONDS)
    try:
        _request(
            control,
            {"do": "template", "bans": [family.to_dict() for family in bans]},
            [template_end.fileno()],
        )
    except OSError:
        own_end.close()
        raise
    finally:
        template_end.close()
    return _Template(own_end, limits)


class _Template:
    """The judge's side of a template: workers that are forked before they are needed."""

    AHEAD = 3

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self._control, self._limits = control, limits
        # Descriptors only: a worker may start threads, and this process must be able to fork.
        self._ready: collections.deque[tuple[socket.socket, int]] = collections.deque()
        self._lock = threading.Lock()

    def duplicate(self) -> _Template:
        """Another template with the same bans, as a fork of this one."""
        with self._lock:
            return _open_template(self._control, (), self._limits)

    def fill(self, ahead: int = AHEAD) -> None:
        """Fork workers until so many are ready."""
        while len(self._ready) < ahead:
            self._ready.append(self._fork())

    def take(self, key: object) -> Worker:
        """A worker that is ready. Raises OSError, WorkerDied or WorkerTimedOut."""
        self.fill()
        worker = _Fork(self, *self._ready.popleft(), self._limits)
        try:
            worker.greet(key, REPLY_SECONDS)
        except (WorkerDied, WorkerTimedOut):
            worker.close()
            raise
        return worker

    def _fork(self) -> tuple[socket.socket, int]:
        own_end, worker_end = socket.socketpair()
        read_end, write_end = os.pipe()
        try:
            with self._lock:
                _request(self._control, {"do": "fork"}, [worker_end.fileno(), write_end])
        except OSError:
            own_end.close()
            os.close(read_end)
            raise
        finally:
            worker_end.close()
            os.close(write_end)
        return own_end, read_end

    def end(self, pid: int, *, tell: bool) -> reasons.Reason:
        """Kill a worker through its parent: only that knows that the pid is still its child.

        tell: wait for its end; the result says how it ended.
        """
        with self._lock:
            try:
                self._control.send(frames.encode({"do": "end", "pid": pid, "tell": tell}))
                status = int(frames.decode(self._control.recv(1 << 16))["ended"]) if tell else -1
            except (OSError, frames.BadFrame):
                return reasons.ProcessGone()
        return how_it_ended(status) if status != -1 else reasons.ProcessGone()

    def empty(self) -> None:
        """Close the workers that are ready."""
        for connection, output in self._ready:
            connection.close()
            os.close(output)
        self._ready.clear()

    def close(self) -> None:
        self.empty()
        self._control.close()


class _Fork(Worker):
    def __init__(
        self, template: _Template, connection: socket.socket, output: int, limits: Limits
    ) -> None:
        self.template = template
        self._end: reasons.Reason | None = None
        super().__init__(SocketChannel(connection, output, limits), limits)

    def end(self) -> reasons.Reason:
        if self._end is None:
            never = reasons.ProcessNeverStarted()
            self._end = self.template.end(self.pid, tell=True) if self.pid else never
        return self._end

    def dismiss(self) -> None:
        if self._end is None:
            self.template.end(self.pid, tell=False)
        self.close()
