"""The fork server: a process that has imported torch and forks sandbox workers.

`serve_forks` runs in the fork server, which holds no secret. It forks a worker for each request
that comes with two descriptors: the socket to the judge, and the pipe for what the code prints.
`serve_alone` is a single worker, for systems where torch does not survive a fork.
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


# Uses what every check uses, so that no child has to load it.
WARM_UP = """
def f(x):
    x = x - x.amax(-1, keepdim=True)
    x = x.exp() / x.exp().sum(-1, keepdim=True)
    return x @ x.transpose(-2, -1)
"""


def warm_up() -> None:
    """Run one check, then hide the heap from the garbage collector.

    One thread only: a child forked from a process that has run OpenMP threads can hang.
    """
    torch.set_num_threads(1)
    dry_run(on_fake_device=True)
    gc.collect()
    gc.freeze()
    gc.enable()


def dry_run(on_fake_device: bool = False) -> None:
    """Run a check with WARM_UP as the submission, so that later checks load and allocate less.

    In a forked child this copies the memory pages that a check writes to.
    """
    warm_runner = runner.Runner()
    tensors: wire.Tensors = {}
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    call = {"do": "call", "id": 1, "function": "f", "device": "cpu", "kwargs": wire.pack({}, {})}
    load = {"do": "load", "module": "_warm", "sources": {"_warm": WARM_UP}, "functions": ["f"]}
    warm_runner.answer(load, {})
    warm_runner.answer({**call, "args": wire.pack([x], tensors)}, tensors)
    upstream = wire.pack([torch.ones(2, 2, dtype=torch.float64)], tensors)
    warm_runner.answer({"do": "backward", "id": 1, "upstream": upstream}, tensors)
    wire.read(io.BytesIO(wire.encode(call, tensors)).read)
    if on_fake_device:
        warm_runner.answer({**call, "args": wire.pack([x], tensors), "fake_device": True}, tensors)
    sys.modules.pop("_warm")
    linecache.cache.pop("_warm.py")


def serve_forks(control: socket.socket, hidden: list[Path], memory_mb: int) -> None:
    """Serve the judge on `control` until it closes it.

    control: a socket that keeps message boundaries (SOCK_SEQPACKET).
    hidden: files and folders that workers must not read.
    memory_mb: address space of a worker on top of what torch takes.
    """
    warm_up()
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    server = ForkServer(control, landlock.prepare(hidden), memory_mb)
    server.send({"ready": True})
    server.serve()


class ForkServer:
    """Forks sandbox workers and ends them.

    The first process has one, and so has each template: a fork of it in which the bans of a kata
    are installed, so that they are installed once and not for every check.

    children: the wait status of every child by its pid; -1 while it runs.
    """

    def __init__(self, control: socket.socket, ruleset: landlock.Ruleset, memory_mb: int) -> None:
        self.control, self.ruleset, self.memory_mb = control, ruleset, memory_mb
        self.pid = os.getpid()
        session.adopt_orphans()
        self.children: dict[int, int] = {}

    def serve(self) -> None:
        """Serve requests until the judge closes the socket; then end all children."""
        with contextlib.suppress(OSError):
            while self.serve_one():
                continue
        for pid in list(self.children):
            self.end(pid)
        self.end_orphans()

    def serve_one(self) -> bool:
        """Serve one request; whether there was one."""
        data, descriptors, _, _ = socket.recv_fds(self.control, 1 << 16, 2)
        if not data:
            return False
        request = frames.decode(data)
        if request["do"] == "end":
            status = self.end(request["pid"])
            if request["tell"]:
                self.send({"ended": status})
        else:
            self.fork(request, descriptors)
        self.sweep()
        return True

    def send(self, message: dict[str, Any]) -> None:
        self.control.send(frames.encode(message))

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Fork a template or a worker, which gets the descriptors."""
        pid = os.fork()
        if pid == 0:
            if request["do"] == "template":
                self.become_template(descriptors[0], request["bans"])
            _run_worker(descriptors, self.pid, self.ruleset, self.memory_mb)
        for descriptor in descriptors:
            os.close(descriptor)
        self.children[pid] = -1

    def become_template(self, control: int, families: list[dict[str, Any]]) -> None:
        """Run as a template; never returns."""
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
        """Kill a child and its session; returns its wait status, or -1 if it is no child."""
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
        """Kill processes that a child forked: orphans become children of this process."""
        for pid in linux.children_of(os.getpid()):
            if pid not in self.children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def sweep(self) -> None:
        """Record the status of children that ended by themselves."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in self.children:
                self.children[pid] = status


def _run_worker(
    descriptors: list[int], parent: int, ruleset: landlock.Ruleset, memory_mb: int
) -> None:
    """Run as a sandbox worker; never returns."""
    try:
        channel, output = descriptors
        stdio.capture_output(output)
        restrictions = apply.apply_all(
            (channel,), parent, ruleset, memory_mb=memory_mb, cpu_seconds=CPU_SECONDS
        )
        # A forked child gets a new thread pool and autograd engine at their first use. Two threads
        # that use them first at the same time would crash, so the first use is here.
        torch.set_num_threads(1)
        dry_run()
        send = stdio.sender(channel)
        send(wire.encode({"pid": os.getpid(), "restrictions": restrictions}))
        runner.serve(stdio.exact_reader(channel), send)
        os._exit(0)
    finally:
        os._exit(OUR_FAULT)


def serve_alone(hidden: list[Path], memory_mb: int) -> None:
    """Run as a single worker: requests on stdin, answers on stdout, the code's output on stderr."""
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
    send(wire.encode({"pid": os.getpid(), "restrictions": restrictions}))
    runner.serve(stdio.exact_reader(requests), send)
    sys.exit(0)
