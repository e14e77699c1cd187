"""The daemon itself: a process that has imported everything and forks for each verdict.

A verdict is made in a fork, with the learner processes that were made ready for it; when whoever
asked hangs up, the fork ends, and everything that it started ends with it. The process itself
runs no submission, has no thread, and ends when nobody has asked for a while.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attention_katas import __version__, devices
from attention_katas.diagnosis.causes import FindCauses
from attention_katas.errors import KataError
from attention_katas.judge.judge import WARM_UP_CHECKS, Judge
from attention_katas.packs.catalog import Catalog, Kata, Selection, load_catalog
from attention_katas.packs.submission import Submission, from_dict
from attention_katas.sandbox.forked_workers import ForkedWorkers
from attention_katas.sandbox.restrictions import linux
from attention_katas.sandbox.start import start_workers
from attention_katas.service import rpc
from attention_katas.service.daemon.address import Address
from attention_katas.service.local import hidden_paths
from attention_katas.verdict import data as v

REQUEST_SECONDS = 1.0
LOOK_SECONDS = 3.0  # between two looks at whether the socket is still there
# Learner processes that a run takes beside one for each check: to load, and to ask once more.
EXTRA = 6


@dataclass(frozen=True)
class Fork:
    """A process that waits for a request, on `line`. It has got ready for `kata`."""

    pid: int
    line: socket.socket
    kata: Kata


class Daemon:
    """A judge of some packs of katas, on the cpu, and who is waiting for it."""

    def __init__(
        self, catalog: Catalog, judge: Judge, workers: ForkedWorkers, idle_seconds: float
    ) -> None:
        self.catalog, self.judge, self.workers = catalog, judge, workers
        self.idle_seconds = idle_seconds
        self.auto = devices.choose("auto").name
        self.started = time.time()
        self.judged = 0
        self.last = time.monotonic()
        self.forks: set[int] = set()
        self.next: Fork | None = None
        self.held: set[socket.socket] = set()
        self.likely = catalog.ready[0]
        self.stopping = False
        self._steps = self._to_warm_up()
        self._cold = True

    def _to_warm_up(self) -> Iterator[None]:
        """What is done once, in steps, when nobody waits: everything that a verdict may need."""
        for wrong in (False, True):
            for kata in [self.likely, *self.catalog.ready]:
                submission = _rehearsal(kata, self.catalog, wrong)
                if wrong:
                    self.judge.judge(submission, 0, until_failure=True)
                else:
                    self.judge.check_bans(kata.banned)
                    yield from self.judge.dry_run(submission)
                yield
        gc.collect()
        gc.freeze()

    def warm_up(self) -> None:
        """One step of it."""
        try:
            next(self._steps)
        except StopIteration:
            self._cold = False
            self.retire()  # it was forked before all this
        except KataError:
            self.stopping = True
        self.last = time.monotonic()

    def serve(self, door: Door) -> None:
        """Answer until told to stop, or until nobody has asked for `idle_seconds`."""
        waker = Waker()
        self.last = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(door.listener, selectors.EVENT_READ)
            selector.register(waker.end, selectors.EVENT_READ)
            while not self.stopping:
                self.make_ready()
                waiting = self._cold and not self.forks
                events = selector.select(0.0 if waiting else min(LOOK_SECONDS, self.idle_seconds))
                for key, _ in events:
                    if key.fileobj is door.listener:
                        self.answer(door.listener, selector)
                    elif key.fileobj is waker.end:
                        waker.calm()
                    elif isinstance(key.fileobj, socket.socket):
                        self.hear_holder(key.fileobj, selector)
                if self._cold and not self.forks:
                    self.warm_up()
                self.reap()
                if self.is_idle() or not door.is_there():
                    return

    def is_idle(self) -> bool:
        busy = self.forks or self.held
        return not busy and time.monotonic() - self.last >= self.idle_seconds

    def make_ready(self) -> None:
        """Have a fork wait for the next request, with the learner processes that it will need."""
        if self.forks:
            return  # they need the processor
        if self.next is not None and self.next.kata is self.likely:
            return
        self.retire()
        checks = len(self.judge.checks_of(self.likely))
        try:
            self.workers.prepare(self.likely.banned, checks + WARM_UP_CHECKS + EXTRA)
            self.next = self.fork()
        except (OSError, KataError):
            self.stopping = True  # the next who asks starts another one

    def retire(self) -> None:
        """End the fork that waits, if there is one."""
        if self.next is not None:
            self.next.line.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.next.pid, signal.SIGKILL)
            os.waitpid(self.next.pid, 0)
            self.next = None

    def fork(self) -> Fork:
        """A fork that waits for a request about the likely kata, or one with the same bans."""
        ours, theirs = socket.socketpair()
        parent, pid = os.getpid(), os.fork()
        if not pid:
            ours.close()
            self.in_fork(theirs, parent)
        theirs.close()
        self.workers.release()
        return Fork(pid, ours, self.likely)

    def reap(self) -> None:
        for pid in list(self.forks):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.forks.discard(pid)
                self.last = time.monotonic()

    def answer(self, listener: socket.socket, selector: selectors.BaseSelector) -> None:
        """Take one caller, and do what it asks."""
        try:
            line, _ = listener.accept()
        except OSError:
            return
        line.settimeout(REQUEST_SECONDS)
        keep = False
        try:
            if rpc.is_own(line):
                request = rpc.receive(line)
                keep = request is not None and self.do(request, line, selector)
        except (OSError, rpc.Garbled):
            pass
        finally:
            if not keep:
                line.close()

    def do(
        self, request: rpc.Message, line: socket.socket, selector: selectors.BaseSelector
    ) -> bool:
        """Do what is asked; whether the line is to be kept open."""
        asked = request.get("do")
        if asked == "status":
            rpc.send(line, self.status())
        elif asked == "stop":
            self.stopping = True
            rpc.send(line, {"stopped": os.getpid()})
        elif asked == "hold":
            self.expect(request)
            self.held.add(line)
            selector.register(line, selectors.EVENT_READ)
            return True
        elif asked == "judge":
            if request.get("device") == "auto" and self.auto != "cpu":
                rpc.send(line, {"not here": f"this is judged on {self.auto}"})
            else:
                self.fork_for(request, line)
        return False

    def hear_holder(self, line: socket.socket, selector: selectors.BaseSelector) -> None:
        """Somebody who keeps us from going idle says what comes next, or hangs up."""
        try:
            request = rpc.receive(line)
        except (OSError, rpc.Garbled):
            request = None
        if request is None:
            selector.unregister(line)
            self.held.discard(line)
            line.close()
            self.last = time.monotonic()
        else:
            self.expect(request)

    def expect(self, request: rpc.Message) -> None:
        with contextlib.suppress(KataError, KeyError, TypeError, AttributeError):
            self.likely = self.catalog[request["kata"]]

    def status(self) -> rpc.Message:
        left = self.idle_seconds - (time.monotonic() - self.last)
        return {
            "pid": os.getpid(),
            "version": __version__,
            "started": self.started,
            "judged": self.judged,
            "warm": not self._cold,
            "idle_seconds_left": None if self.forks or self.held else max(left, 0.0),
            "memory_mb": _memory_mb(os.getpid()),
        }

    def fork_for(self, request: rpc.Message, line: socket.socket) -> None:
        """Make the verdict in a fork."""
        try:
            submission = from_dict(request, self.catalog)
        except (KataError, KeyError, TypeError, AttributeError) as error:
            rpc.send(line, {"not here": f"no such request: {type(error).__name__}"})
            return
        self.likely = submission.kata
        waiting = self.next
        if waiting is None or waiting.kata.banned != submission.kata.banned:
            self.retire()
            waiting = self.fork()
        self.next = None
        try:
            socket.send_fds(waiting.line, [b"!"], [line.fileno()])
            rpc.send(waiting.line, request)
        except OSError:  # it has died; who asked is hung up on, and does without
            pass
        waiting.line.close()
        self.forks.add(waiting.pid)
        self.judged += 1
        self.last = time.monotonic()

    def in_fork(self, calls: socket.socket, parent: int) -> None:
        """Everything that a fork does; it never returns."""
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                return
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            self.workers.adopt(self.likely.banned)
            rehearsal = _rehearsal(self.likely, self.catalog, wrong=False)
            self.judge.get_ready(rehearsal, lambda: rpc.has_input(calls))
            _, (descriptor,), _, _ = socket.recv_fds(calls, 1, 1)
            line = socket.socket(fileno=descriptor)
            request = rpc.receive(calls)
            if request is None:
                return
            line.settimeout(None)
            rpc.send(line, {"taken": os.getpid()})
            threading.Thread(target=_end_when_hung_up, args=[line], daemon=True).start()
            done = threading.Event()
            busy = threading.Thread(target=_say_busy, args=[line, done], daemon=True)
            busy.start()
            submission = from_dict(request, self.catalog)
            verdict = self.judge.judge(submission, request.get("seed"))
            done.set()
            busy.join()
            rpc.send(line, {"verdict": v.to_builtins(verdict)})
        finally:
            os._exit(0)


def _say_busy(line: socket.socket, done: threading.Event) -> None:
    while not done.wait(1.0):
        with contextlib.suppress(OSError):
            rpc.send(line, {"busy": True})


def _end_when_hung_up(line: socket.socket) -> None:
    """Nobody waits for the verdict any more: so nothing goes on that makes it."""
    with contextlib.suppress(OSError):
        line.recv(1, socket.MSG_PEEK)
    os._exit(0)


def _rehearsal(kata: Kata, catalog: Catalog, wrong: bool) -> Submission:
    """The reference as a submission; wrong: twice what it should answer."""
    sources = {each.module: each.reference.read_text(encoding="utf-8") for each in catalog.ready}
    if wrong:
        sources[kata.module] += "".join(
            f"\n\n_{name} = {name}\n\n\ndef {name}(*args, **kwargs):\n"
            f"    answer = _{name}(*args, **kwargs)\n"
            "    return answer * 2 if answer.is_floating_point() else ~answer\n"
            for name in kata.functions
        )
    return Submission(kata, sources, kata.file, {name: frozenset() for name in sources})


class Door:
    """The socket under its name. It appears there only when it can be talked to."""

    def __init__(self, address: Address) -> None:
        self.path = address.socket
        self.listener = socket.socket(socket.AF_UNIX)
        early = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            os.unlink(early)
        self.listener.bind(early)
        self.listener.listen(16)
        self._inode = os.stat(early).st_ino
        os.rename(early, self.path)

    def is_there(self) -> bool:
        """Whether those who look for us still find us."""
        try:
            return os.stat(self.path).st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.is_there():
                os.unlink(self.path)
        self.listener.close()


class Waker:
    """A socket that can be read when a signal has come: a fork has ended, or somebody says stop."""

    def __init__(self) -> None:
        self.end, self._other = socket.socketpair()
        for end in (self.end, self._other):
            end.setblocking(False)
        signal.set_wakeup_fd(self._other.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def calm(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.end.recv(64):
                continue


def _memory_mb(pid: int) -> float:
    """Proportional memory of a process and its descendants, in MiB."""
    total, waiting = 0.0, [pid]
    while waiting:
        each = waiting.pop()
        waiting += linux.children_of(each)
        with contextlib.suppress(OSError, IndexError, ValueError):
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii")
            total += int(rollup.split("\nPss:")[1].split()[0]) / 1024
    return round(total, 1)


def run(address: Address, idle_seconds: float, packs: Selection) -> None:
    """Be the daemon until there is no need for one any more."""
    gc.disable()  # forks are over before their garbage matters
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    catalog = load_catalog(packs)
    with start_workers(hidden_paths(catalog)) as workers:
        assert isinstance(workers, ForkedWorkers)
        workers.expect(catalog.ready[0].banned)
        judge = Judge(catalog.ready, workers, diagnose=FindCauses(catalog.modules))
        daemon = Daemon(catalog, judge, workers, idle_seconds)
        signal.signal(signal.SIGTERM, lambda *_: setattr(daemon, "stopping", True))
        door = Door(address)
        try:
            daemon.serve(door)
        finally:
            daemon.retire()
            door.close()
            judge.close()
