"""A fork of the daemon: it waits for one request, makes that verdict, and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from attention_katas.judge.judge import Judge
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.submission import Submission
from attention_katas.sandbox.forked_workers import ForkedWorkers
from attention_katas.sandbox.restrictions import linux
from attention_katas.service import messages, rpc

BUSY_SECONDS = 1.0


@dataclass(frozen=True)
class WaitingFork:
    """A process that waits for a request.

    pid: its process.
    control: the daemon's end of the connection to it.
    kata: the kata that it has warmed up for.
    """

    pid: int
    control: socket.socket
    kata: Kata

    def hand_over(self, request: messages.Judge, client: socket.socket) -> None:
        """Give it a request and the connection of the client that waits for the verdict."""
        with contextlib.suppress(OSError):  # it has died; the client is hung up on, and falls back
            socket.send_fds(self.control, [b"!"], [client.fileno()])
            rpc.send(self.control, request)
        self.control.close()

    def kill(self) -> None:
        self.control.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def fork(kata: Kata, catalog: Catalog, judge: Judge, workers: ForkedWorkers) -> WaitingFork:
    """A fork that waits for a request about this kata, or one with the same bans."""
    control, far_end = socket.socketpair()
    daemon, pid = os.getpid(), os.fork()
    if not pid:
        control.close()
        _live(far_end, daemon, kata, catalog, judge, workers)
    far_end.close()
    workers.release()
    return WaitingFork(pid, control, kata)


def _live(
    control: socket.socket,
    daemon: int,
    kata: Kata,
    catalog: Catalog,
    judge: Judge,
    workers: ForkedWorkers,
) -> None:
    """Everything that a fork does; it never returns."""
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != daemon:
            return
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        workers.adopt(kata.banned)
        judge.get_ready(reference_submission(kata, catalog), lambda: rpc.has_input(control))
        _, (descriptor,), _, _ = socket.recv_fds(control, 1, 1)
        request = rpc.receive(control)
        if request is not None and isinstance(request[0], messages.Judge):
            _answer(request[0], socket.socket(fileno=descriptor), catalog, judge)
    finally:
        os._exit(0)


def _answer(request: messages.Judge, client: socket.socket, catalog: Catalog, judge: Judge) -> None:
    """Make the verdict, with a sign of life every second."""
    client.settimeout(None)
    rpc.send(client, messages.Started(os.getpid()))
    threading.Thread(target=_exit_at_hang_up, args=[client], daemon=True).start()
    submission = messages.submission_of(request, catalog)
    if isinstance(submission, messages.Refused):
        rpc.send(client, submission)
        return
    with _signs_of_life(client):
        verdict = judge.judge(submission, request.seed)
    rpc.send(client, messages.Judged(), rpc.encode_verdict(verdict))


@contextlib.contextmanager
def _signs_of_life(client: socket.socket) -> Iterator[None]:
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(BUSY_SECONDS):
            with contextlib.suppress(OSError):
                rpc.send(client, messages.Busy())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    is_over.set()
    thread.join()


def _exit_at_hang_up(client: socket.socket) -> None:
    """End this process as soon as nobody waits for the verdict any more."""
    with contextlib.suppress(OSError):
        client.recv(1, socket.MSG_PEEK)
    os._exit(0)


def reference_submission(kata: Kata, catalog: Catalog, wrong: bool = False) -> Submission:
    """The reference as a submission, for a warm-up.

    wrong: it returns twice the right answer, or the complement of a mask.
    """
    sources = {
        member.module: member.reference.read_text(encoding="utf-8", errors="replace")
        for member in catalog.ready
    }
    if wrong:
        sources[kata.module] += "".join(
            f"\n\n_{name} = {name}\n\n\ndef {name}(*args, **kwargs):\n"
            f"    answer = _{name}(*args, **kwargs)\n"
            "    return answer * 2 if answer.is_floating_point() else ~answer\n"
            for name in kata.functions
        )
    return Submission(kata, sources, kata.file, {name: frozenset() for name in sources})
