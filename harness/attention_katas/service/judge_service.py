"""Where a program that judges again and again gets its verdicts."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Protocol

from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.submission import Submission
from attention_katas.service import rpc
from attention_katas.service.daemon.client import Client, connect, for_katas, judge
from attention_katas.verdict import data as v

if TYPE_CHECKING:
    from attention_katas.judge.judge import Judge

START_SECONDS = 30.0
AGAIN_SECONDS = 2.0


class Cancelled(Exception):
    """The verdict is not wanted any more: something newer is to be judged."""


class Bench(Protocol):
    """Judges one submission at a time. `cancel` may be called from another thread."""

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        """Blocks until there is a verdict. Raises Cancelled, or KataError if none can be had."""

    def cancel(self) -> None:
        """End the judging under way, if there is one: its `judge` raises Cancelled."""

    def expect(self, kata: Kata) -> None:
        """This kata is likely the next one to be judged. Blocks while things start up."""

    def close(self) -> None: ...


class LocalService:
    """A judge in this process. It starts with the first submission, or at `warm_up`."""

    def __init__(self, catalog: Catalog, device: str = "auto", spawn: bool = False) -> None:
        self._catalog, self._device, self._spawn = catalog, device, spawn
        self._stack = contextlib.ExitStack()
        self._judge: Judge | None = None
        self._starting = threading.Lock()
        self._judging = threading.Lock()
        self._wanted = 0

    def warm_up(self) -> Judge:
        """Start what a verdict needs. Raises KataError when that is not to be had here."""
        from attention_katas.service.local import open_judge

        with self._starting:
            if self._judge is None:
                self._judge = self._stack.enter_context(
                    open_judge(self._catalog, self._catalog.ready, self._device, self._spawn)
                )
            return self._judge

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._wanted
        judge = self.warm_up()
        with self._judging:
            if turn != self._wanted:
                raise Cancelled
            verdict = judge.judge(submission, seed)
        if turn != self._wanted:
            raise Cancelled
        return verdict

    def cancel(self) -> None:
        self._wanted += 1
        if self._judge is not None:
            self._judge.cancel()

    def expect(self, kata: Kata) -> None:
        self.warm_up().workers.expect(kata.banned)

    def close(self) -> None:
        self.cancel()
        with self._starting, self._judging:
            self._stack.close()


class DaemonService:
    """Verdicts from the daemon, which is started if need be, and kept from going idle."""

    def __init__(self, client: Client, local: LocalService) -> None:
        self._client, self._local = client, local
        self._line: socket.socket | None = None
        self._held: socket.socket | None = None
        self._wanted = 0
        self._closed = False

    def judge(self, submission: Submission, seed: int | None = None) -> v.Verdict:
        turn = self._wanted
        for _ in range(2):
            line = self._line = self._connected(turn)
            if line is None:
                break
            self._hold(submission.kata)
            verdict = judge(line, submission, seed, self._client.device)
            if turn != self._wanted:
                raise Cancelled
            if verdict is not None:
                return verdict
        # No daemon is to be had, or it has nothing to say about this.
        return self._local.judge(submission, seed)

    def _connected(self, turn: int) -> socket.socket | None:
        """A line to the daemon, started first if there is none; None if that does not help."""
        until = time.monotonic() + START_SECONDS
        again = 0.0
        while time.monotonic() < until and not self._closed:
            if turn != self._wanted:
                raise Cancelled
            line = connect(self._client.where)
            if line is not None:
                return line
            if time.monotonic() >= again:  # again, for one that is just ending may be in the way
                self._client.start()
                again = time.monotonic() + AGAIN_SECONDS
            time.sleep(0.05)
        return None

    def cancel(self) -> None:
        self._wanted += 1
        line = self._line
        if line is not None:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)  # the fork that judges hears that, and ends
        self._local.cancel()

    def expect(self, kata: Kata) -> None:
        line = self._connected(self._wanted)
        if line is not None:
            line.close()
            self._hold(kata)

    def _hold(self, kata: Kata) -> None:
        """Tell the daemon which kata comes next, on a line that keeps it from going idle."""
        for _ in range(2):
            self._held = self._held or connect(self._client.where)
            if self._held is None:
                return
            try:
                rpc.send(self._held, {"do": "hold", "kata": kata.name})
                return
            except OSError:  # the daemon that it led to has been replaced
                self._held.close()
                self._held = None

    def close(self) -> None:
        self._closed = True
        self.cancel()
        if self._held is not None:
            self._held.close()
        self._local.close()


def open_service(catalog: Catalog, device: str = "auto", spawn: bool = False) -> Bench:
    """The bench that this system allows."""
    local = LocalService(catalog, device, spawn)
    client = None if spawn else for_katas(catalog, device)
    return DaemonService(client, local) if client else local
