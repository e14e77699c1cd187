"""Where sandbox workers come from.

`serve_forks` runs in the fork server: it has imported torch, holds no secret, and forks a child for
each request that arrives with two descriptors (the line to the judge, and the pipe for whatever
the code prints). `serve_alone` is one sandbox worker for systems where forking cannot serve.
"""

from __future__ import annotations

import contextlib
import gc
import io
import linecache
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import torch

from . import bans, frames, runner, stdio, wire
from .restrictions import apply, landlock, linux, session

CPU_SECONDS = 120
OUR_FAULT = 70


# Touches what every check touches, so that no child is the first to need it.
WARM_UP = """
def f(x):
    x = x - x.amax(-1, keepdim=True)
    x = x.exp() / x.exp().sum(-1, keepdim=True)
    return x @ x.transpose(-2, -1)
"""


def warm_up() -> None:
    """Go through one check, then hide the heap from the collector.

    One thread only: a child forked from a process that has run OpenMP threads can hang.
    """
    torch.set_num_threads(1)
    dry_run(on_fake_device=True)
    gc.collect()
    gc.freeze()
    gc.enable()


def dry_run(on_fake_device: bool = False) -> None:
    """Do what a check does, with code of ours: what is needed for it is then at hand.

    In a forked child that is memory, which it first has to itself once it is touched.
    """
    rehearsal = runner.Runner()
    tensors: wire.Tensors = {}
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    call = {"do": "call", "id": 1, "function": "f", "device": "cpu", "kwargs": wire.pack({}, {})}
    load = {"do": "load", "module": "_warm", "sources": {"_warm": WARM_UP}, "functions": ["f"]}
    rehearsal.answer(load, {})
    rehearsal.answer({**call, "args": wire.pack([x], tensors)}, tensors)
    upstream = wire.pack([torch.ones(2, 2, dtype=torch.float64)], tensors)
    rehearsal.answer({"do": "backward", "id": 1, "upstream": upstream}, tensors)
    wire.read(io.BytesIO(wire.encode(call, tensors)).read)
    if on_fake_device:
        rehearsal.answer({**call, "args": wire.pack([x], tensors), "elsewhere": True}, tensors)
    sys.modules.pop("_warm")
    linecache.cache.pop("_warm.py")


def serve_forks(control: socket.socket, hidden: list[Path], memory_mb: int) -> None:
    """Do what the judge asks on `control` until it hangs up.

    `control` keeps message boundaries (SOCK_SEQPACKET).
    """
    warm_up()
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    template = ForkServer(control, landlock.prepare(hidden), memory_mb)
    template.say({"ready": True})
    template.serve()


class ForkServer:
    """A process that forks sandbox workers and ends them.

    The first one has imported torch. Each template is a fork of it in which one kata's bans are
    installed already, so that they are paid for once and not by every check.
    """

    def __init__(self, control: socket.socket, ruleset: landlock.Ruleset, memory_mb: int) -> None:
        self.control, self.ruleset, self.memory_mb = control, ruleset, memory_mb
        self.pid = os.getpid()
        session.adopt_orphans()
        self.children: dict[int, int] = {}

    def serve(self) -> None:
        """Do what is asked until the judge hangs up; then leave no child behind."""
        with contextlib.suppress(OSError):
            while self.serve_one():
                continue
        for pid in list(self.children):
            self.end(pid)
        self.end_orphans()

    def serve_one(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, 1 << 16, 2)
        if not data:
            return False
        request = frames.decode(data)
        if request["do"] == "end":
            status = self.end(request["pid"])
            if request["tell"]:
                self.say({"ended": status})
        else:
            self.fork(request, descriptors)
        self.sweep()
        return True

    def say(self, message: dict[str, Any]) -> None:
        self.control.send(frames.encode(message))

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        pid = os.fork()
        if pid == 0:
            if request["do"] == "template":
                self.become_template(descriptors[0], request["bans"])
            _learner(descriptors, self.pid, self.ruleset, self.memory_mb)
        for descriptor in descriptors:
            os.close(descriptor)
        self.children[pid] = -1

    def become_template(self, control: int, families: list[dict[str, Any]]) -> None:
        """Everything a template does; it never returns."""
        try:
            parent = self.pid
            self.control.close()
            session.apply(parent)
            bans.install(families)
            gc.collect()
            gc.freeze()
            ForkServer(socket.socket(fileno=control), self.ruleset, self.memory_mb).serve()
        finally:
            os._exit(0)

    def end(self, pid: int) -> int:
        """Kill a child and its session; returns its wait status, or -1 when it is not ours."""
        if pid not in self.children:
            return -1
        status = self.children.pop(pid)
        if status != -1:
            self.end_orphans()
            return status
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
        self.end_orphans()
        return status

    def end_orphans(self) -> None:
        """Kill what a child forked and left behind: orphans become children of this process."""
        for pid in linux.children_of(os.getpid()):
            if pid not in self.children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def sweep(self) -> None:
        """Note the status of children that ended by themselves."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in self.children:
                self.children[pid] = status


def _learner(
    descriptors: list[int], parent: int, ruleset: landlock.Ruleset, memory_mb: int
) -> None:
    """Everything a forked child does; it never returns."""
    try:
        line, output = descriptors
        stdio.capture_output(output)
        restrictions = apply.apply_all(
            (line,), parent, ruleset, memory_mb=memory_mb, cpu_seconds=CPU_SECONDS
        )
        # In a forked child torch makes its thread pool and its autograd engine anew at their first
        # use, and two threads that both come first trip over each other. So the first use is here.
        torch.set_num_threads(1)
        dry_run()
        send = stdio.sender(line)
        send(wire.encode({"pid": os.getpid(), "locks": restrictions}))
        runner.serve(stdio.exact_reader(line), send)
        os._exit(0)
    finally:
        os._exit(OUR_FAULT)


def serve_alone(hidden: list[Path], memory_mb: int) -> None:
    """One sandbox worker on its standard streams: requests in, answers out, prints on stderr."""
    requests, answers = os.dup(0), os.dup(1)
    stdio.make_binary(requests, answers)
    stdio.capture_output(2)
    warm_up()
    # No memory limit means a GPU, whose driver wants its own devices.
    restrictions = apply.apply_all(
        (requests, answers),
        os.getppid(),
        landlock.prepare(hidden, gpu=not memory_mb),
        memory_mb=memory_mb,
        cpu_seconds=10 * CPU_SECONDS,
    )
    send = stdio.sender(answers)
    send(wire.encode({"pid": os.getpid(), "locks": restrictions}))
    runner.serve(stdio.exact_reader(requests), send)
    sys.exit(0)
