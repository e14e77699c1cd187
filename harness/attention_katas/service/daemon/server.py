"""The daemon: a process that has imported everything and forks for each verdict.

A verdict is made in a fork, with sandbox workers that were started ahead; when the client hangs
up, the fork ends, and everything that it started ends with it. The daemon itself runs no
submission, has no thread, and ends when nobody has asked for a while.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from attention_katas import __version__, devices
from attention_katas.diagnosis.causes import FindCauses
from attention_katas.errors import KataError, NoSuchKata
from attention_katas.judge.judge import WARM_UP_CHECKS, Judge
from attention_katas.packs.catalog import Catalog, Selection, load_catalog
from attention_katas.sandbox.forked_workers import ForkedWorkers
from attention_katas.sandbox.restrictions import linux
from attention_katas.sandbox.start import start_workers
from attention_katas.service import machine, messages, rpc
from attention_katas.service.daemon.address import Address
from attention_katas.service.daemon.fork import WaitingFork, fork, reference_submission
from attention_katas.service.daemon.listener import Listener, Waker
from attention_katas.service.local import hidden_paths

REQUEST_SECONDS = 1.0
LOOK_SECONDS = 3.0  # between two looks at whether clients can still connect
# Sandbox workers that a run takes beside one for each check: to load, and for a second try.
EXTRA = 6


class Server:
    """A judge of some packs of katas, on the CPU, and the clients that wait for it."""

    def __init__(
        self, catalog: Catalog, judge: Judge, workers: ForkedWorkers, idle_seconds: float
    ) -> None:
        self.catalog, self.judge, self.workers = catalog, judge, workers
        self.idle_seconds = idle_seconds
        self.auto_device = devices.choose("auto").name
        self.started = time.time()
        self.judged = 0
        self.last_use = time.monotonic()
        self.forks: set[int] = set()
        self.waiting: WaitingFork | None = None
        self.holders: set[socket.socket] = set()
        self.likely = catalog.ready[0]
        self.stopping = False
        self.warm = False
        self.selector = selectors.DefaultSelector()
        self._warm_up_steps = self._warm_up()

    def serve(self, listener: Listener, waker: Waker) -> None:
        """Answer until told to stop, or until nobody has asked for `idle_seconds`."""
        self._register(listener.socket, lambda: self.accept(listener.socket))
        self._register(waker.socket, waker.clear)
        self.last_use = time.monotonic()
        while not self.stopping:
            self.prepare_fork()
            may_warm_up = not self.warm and not self.forks
            seconds = 0.0 if may_warm_up else min(LOOK_SECONDS, self.idle_seconds)
            for key, _ in self.selector.select(seconds):
                key.data()
            if not self.warm and not self.forks:
                self.warm_up_one_step()
            self.reap()
            if self.is_idle() or not listener.is_reachable():
                return

    def _register(self, end: socket.socket, on_input: Callable[[], object]) -> None:
        self.selector.register(end, selectors.EVENT_READ, on_input)

    # Clients

    def accept(self, listener: socket.socket) -> None:
        """Take one client, and do what it asks."""
        try:
            client, _ = listener.accept()
        except OSError:
            return
        client.settimeout(REQUEST_SECONDS)
        try:
            if rpc.is_own(client):
                self.do_command(client)
        except (OSError, rpc.Garbled):
            pass
        finally:
            if client not in self.holders:
                client.close()

    def do_command(self, client: socket.socket) -> None:
        """Read one request, and call its `cmd_` method."""
        request = rpc.receive(client)
        name = type(request[0]).__name__.lower() if request else ""
        command: Callable[[Any, socket.socket], None] | None = getattr(self, f"cmd_{name}", None)
        if request is not None and command is not None:
            command(request[0], client)

    def cmd_status(self, _: messages.Status, client: socket.socket) -> None:
        seconds = self.idle_seconds - (time.monotonic() - self.last_use)
        report = messages.StatusReport(
            pid=os.getpid(),
            version=__version__,
            started=self.started,
            judged=self.judged,
            warm=self.warm,
            idle_seconds_left=None if self.forks or self.holders else max(seconds, 0.0),
            memory_mb=machine.memory_mb(os.getpid()),
        )
        rpc.send(client, report)

    def cmd_stop(self, _: messages.Stop, client: socket.socket) -> None:
        self.stopping = True
        rpc.send(client, messages.Stopping(os.getpid()))

    def cmd_hold(self, request: messages.Hold, client: socket.socket) -> None:
        """Expect this kata, and stay as long as the connection is open."""
        with contextlib.suppress(NoSuchKata):
            self.likely = self.catalog[request.kata]
        if client not in self.holders:
            self.holders.add(client)
            self._register(client, lambda: self.hear_holder(client))

    def hear_holder(self, client: socket.socket) -> None:
        """A client that holds the daemon says which kata comes next, or hangs up."""
        try:
            request = rpc.receive(client)
        except (OSError, rpc.Garbled):
            request = None
        if request is not None and isinstance(request[0], messages.Hold):
            self.cmd_hold(request[0], client)
            return
        self.selector.unregister(client)
        self.holders.discard(client)
        client.close()
        self.last_use = time.monotonic()

    def cmd_judge(self, request: messages.Judge, client: socket.socket) -> None:
        """Hand the request to a fork, unless it has to be judged by another process."""
        if request.device == "auto" and self.auto_device != "cpu":
            refused = messages.Refused(messages.OTHER_DEVICE, here="cpu", expected=self.auto_device)
            rpc.send(client, refused)
            return
        submission = messages.submission_of(request, self.catalog)
        if isinstance(submission, messages.Refused):
            if submission.code != messages.UNKNOWN_KATA:  # this daemon is of another installation
                self.stopping = True
                submission = messages.Refused(messages.RESTART)
            rpc.send(client, submission)
            return
        self.likely = submission.kata
        self.take_fork().hand_over(request, client)
        self.judged += 1
        self.last_use = time.monotonic()

    # Forks

    def prepare_fork(self) -> None:
        """Have a fork wait for the next request, with the sandbox workers that it will need."""
        if self.forks:
            return  # they need the processor
        if self.waiting is not None and self.waiting.kata is self.likely:
            return
        self.kill_waiting_fork()
        broken = self.judge.is_broken(self.likely)
        checks = 0 if broken else len(self.judge.checks_of(self.likely))
        try:
            self.workers.prepare(self.likely.banned, checks + WARM_UP_CHECKS + EXTRA)
            self.waiting = fork(self.likely, self.catalog, self.judge, self.workers)
        except (OSError, KataError):
            self.stopping = True  # the next client starts another daemon

    def take_fork(self) -> WaitingFork:
        """The fork that waits, or a new one if its workers have other bans."""
        waiting = self.waiting
        if waiting is None or waiting.kata.banned != self.likely.banned:
            self.kill_waiting_fork()
            waiting = fork(self.likely, self.catalog, self.judge, self.workers)
        self.waiting = None
        self.forks.add(waiting.pid)
        return waiting

    def kill_waiting_fork(self) -> None:
        if self.waiting is not None:
            self.waiting.kill()
            self.waiting = None

    def reap(self) -> None:
        """Forget the forks that have ended."""
        for pid in list(self.forks):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.forks.discard(pid)
                self.last_use = time.monotonic()

    def is_idle(self) -> bool:
        in_use = self.forks or self.holders
        return not in_use and time.monotonic() - self.last_use >= self.idle_seconds

    # Warm-up

    def _warm_up(self) -> Iterator[None]:
        """What is done once, in steps, when nobody waits: everything that a verdict may need."""
        for wrong in (False, True):
            for kata in [self.likely, *self.catalog.ready]:
                submission = reference_submission(kata, self.catalog, wrong)
                if wrong:
                    self.judge.judge(submission, 0, until_failure=True)
                else:
                    self.judge.check_bans(kata.banned)
                    yield from self.judge.dry_run(submission)
                yield
        gc.collect()
        gc.freeze()

    def warm_up_one_step(self) -> None:
        try:
            next(self._warm_up_steps)
        except StopIteration:
            self.warm = True
            self.kill_waiting_fork()  # it was forked before the warm-up
        except KataError:
            self.stopping = True
        self.last_use = time.monotonic()

    def close(self) -> None:
        self.kill_waiting_fork()
        self.selector.close()


def run(address: Address, idle_seconds: float, packs: Selection) -> None:
    """Be the daemon until there is no need for one any more."""
    gc.disable()  # forks are over before their garbage matters
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    catalog = load_catalog(packs)
    for kata in catalog.ready:
        _ = kata.version, kata.pack.digest  # computed now, for the files that are loaded
    with start_workers(hidden_paths(catalog)) as workers:
        assert isinstance(workers, ForkedWorkers)
        workers.expect(catalog.ready[0].banned)
        judge = Judge(catalog.ready, workers, diagnose=FindCauses(catalog.modules))
        server = Server(catalog, judge, workers, idle_seconds)
        signal.signal(signal.SIGTERM, lambda *_: setattr(server, "stopping", True))
        listener = Listener(address)
        try:
            server.serve(listener, Waker())
        finally:
            server.close()
            listener.close()
