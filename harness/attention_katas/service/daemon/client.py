"""The judge service that asks the daemon, and judges in this process when that fails."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator

from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import frames
from attention_katas.service import rpc
from attention_katas.service.daemon import control
from attention_katas.service.daemon.address import Address
from attention_katas.service.judge_service import Cancelled
from attention_katas.service.local import Local
from attention_katas.service.messages import Busy, Hold, Judged, Started, request_of
from attention_katas.verdict import data as v

START_SECONDS = 30.0
RETRY_SECONDS = 2.0
# A fork says every second that it is at work. One that is silent for so long has been stopped.
SILENT_SECONDS = 12.0


class Daemon:
    """A judge service by the daemon of this installation.

    Whatever goes wrong with the daemon, `judge` falls back to a judge in this process.
    """

    def __init__(
        self,
        where: Address,
        local: Local,
        device: str = "auto",
        *,
        patient: bool = True,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """patient: start the daemon and wait for it when there is none, for a caller that judges
        again and again. Otherwise judge in this process, and start the daemon at `close`.

        meanwhile: is called while the daemon judges.
        """
        self._where, self._local, self._device = where, local, device
        self._patient, self._meanwhile = patient, meanwhile
        self._packs = local.catalog.selection
        self._connection: socket.socket | None = None
        self._hold_connection: socket.socket | None = None
        self._turn = 0
        self._closed = False
        self._fell_back = False

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        verdict = None
        if self._patient or not self._fell_back:
            verdict = self._judge_by_daemon(submission, seed)
        if verdict is None:  # the one place that falls back
            verdict = self._local.judge(submission, seed)
            self._fell_back = True
        return verdict

    def _judge_by_daemon(self, submission: Submission, seed: int | None) -> v.Verdict | None:
        """The daemon's verdict; None if it has none, for whatever reason. Raises Cancelled."""
        turn = self._turn
        for _ in range(2 if self._patient else 1):
            connection = self._connection = self._connect(turn)
            if connection is None:
                return None
            if self._patient:
                self._hold(submission.kata)
            verdict = exchange(connection, submission, seed, self._device, self._meanwhile)
            if turn != self._turn:
                raise Cancelled
            if verdict is not None:
                return verdict
        return None

    def _connect(self, turn: int) -> socket.socket | None:
        """A connection to the daemon; a patient one starts it first. Raises Cancelled."""
        if not self._patient:
            return control.connect(self._where)
        deadline, next_start = time.monotonic() + START_SECONDS, 0.0
        while time.monotonic() < deadline and not self._closed:
            if turn != self._turn:
                raise Cancelled
            connection = control.connect(self._where)
            if connection is not None:
                return connection
            if time.monotonic() >= next_start:  # more than once: an ending one may be in the way
                control.start(self._where, packs=self._packs)
                next_start = time.monotonic() + RETRY_SECONDS
            time.sleep(0.05)
        return None

    def cancel(self) -> None:
        self._turn += 1
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # the fork that judges sees it, and ends
        self._local.cancel()

    def expect(self, kata: Kata) -> None:
        connection = self._connect(self._turn)
        if connection is not None:
            connection.close()
            self._hold(kata)

    def _hold(self, kata: Kata) -> None:
        """Tell the daemon which kata comes next, on a connection that keeps it from going idle."""
        for _ in range(2):
            self._hold_connection = self._hold_connection or control.connect(self._where)
            if self._hold_connection is None:
                return
            try:
                rpc.send(self._hold_connection, Hold(kata.name))
                return
            except OSError:  # the daemon at its other end has been replaced
                self._hold_connection.close()
                self._hold_connection = None

    def close(self) -> None:
        self._closed = True
        self.cancel()
        if self._hold_connection is not None:
            self._hold_connection.close()
        self._local.close()
        if self._fell_back and not self._patient and self._local.device == "cpu":
            control.start(self._where, packs=self._packs)


def exchange(
    connection: socket.socket,
    submission: Submission,
    seed: int | None,
    device: str = "auto",
    meanwhile: Callable[[], object] = lambda: None,
) -> v.Verdict | None:
    """The verdict of the daemon at the other end; None if it has none. Closes the connection.

    A daemon that does not even take the request is killed.
    """
    with contextlib.closing(connection), _killed_at_exit() as forks:
        try:
            rpc.send(connection, request_of(submission, seed, device))
            answer = rpc.receive(connection)
        except TimeoutError:
            with contextlib.suppress(OSError):
                os.kill(rpc.peer(connection)[0], signal.SIGKILL)
            return None
        except (OSError, rpc.Garbled, frames.BadFrame):
            return None
        if answer is None or not isinstance(answer[0], Started):
            return None
        forks.append(answer[0].pid)
        connection.settimeout(SILENT_SECONDS)
        meanwhile()
        verdict = _wait_for_verdict(connection)
        if verdict is not None:
            verdict.file = submission.file
            forks.clear()  # it ends by itself
        return verdict


def _wait_for_verdict(connection: socket.socket) -> v.Verdict | None:
    try:
        while (answer := rpc.receive(connection)) and isinstance(answer[0], Busy):
            continue
        if answer and isinstance(answer[0], Judged):
            return rpc.decode_verdict(answer[1])
    except (OSError, rpc.Garbled):
        pass
    return None


@contextlib.contextmanager
def _killed_at_exit() -> Iterator[list[int]]:
    """A list of processes that are killed at the end.

    A fork ends by itself when its client hangs up, unless somebody has stopped it.
    """
    pids: list[int] = []
    try:
        yield pids
    finally:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
