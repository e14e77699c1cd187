"""The self-test of the sandbox: try every forbidden act from where a submission runs.

The acts are source text for a restricted sandbox worker, as any submission is. The answer is a
tensor of zeros (refused) and ones (possible). Each act leaves everything as it was.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from attention_katas.errors import CouldNotGrade
from attention_katas.packs.families import Family
from attention_katas.sandbox.start import Workers
from attention_katas.sandbox.wire import pack

# An act may use the paths and the pid of `targets` and `call(number, ...)`, a system call.
PROLOGUE = """
import ctypes, mmap, os, resource, socket, sys, threading
import torch

libc = ctypes.CDLL(None, use_errno=True)

def call(x86_64, aarch64, *arguments):
    number = {"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine]
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = libc.syscall(ctypes.c_long(number), *words)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer

def connect(family, kind, address):
    with socket.socket(family, kind) as connection:
        connection.settimeout(1)
        connection.connect(address)

def attempt():
    results = []
    for act in ACTS:
        try:
            exec(act, dict(globals()))
        except BaseException:
            results.append(0)
        else:
            results.append(1)
    return torch.tensor(results)
"""

ATTEMPTS: dict[str, str] = {
    # It comes first, since later acts open files.
    "use a descriptor of the judge's": "count = 0\nfor d in range(3, 256):\n"
    "    try: os.fstat(d)\n    except OSError: continue\n    count += 1\nassert count > 3",
    "read a file": "open(SECRET).read()",
    "read the hidden tests": "open(TESTS).read()",
    "list a folder": "os.listdir(FOLDER)",
    "write a file": "open(SECRET, 'a').close()",
    "make a folder": "os.mkdir(NEW)",
    "delete a file": "os.remove(VICTIM)",
    "cut a file": "os.truncate(SECRET, 6)",
    "empty a file opened for reading": "os.open(EMPTY, os.O_RDONLY | os.O_TRUNC)",
    "flag a file": "call(16, 29, os.open(os.__file__, 0), 0x40086602, (ctypes.c_char * 8)())",
    "take a lease on a file": "import fcntl\nfcntl.fcntl(os.open(os.devnull, 0), 1026, 0)",
    "watch a folder": "call(254, 27, call(294, 26, 0), b'/', 256)",
    "change a file's mode": "os.chmod(SECRET, 0o600)",
    "change a file's times": "os.utime(SECRET)",
    "change a file's attributes": "os.setxattr(SECRET, 'user.kata', b'1')",
    "make a file in memory": "os.memfd_create('kata')",
    "read the judge's environment": "open(f'/proc/{JUDGE}/environ', 'rb').read(1)",
    "read the judge's memory": "open(f'/proc/{JUDGE}/mem', 'rb')",
    "list what the judge has open": "os.listdir(f'/proc/{JUDGE}/fd')",
    "read the judge's memory by a system call": "call(310, 270, JUDGE, 0, 0, 0, 0, 0)",
    "trace the judge": "call(101, 117, 0x4206, JUDGE, 0, 0)",
    "get a descriptor of the judge": "call(434, 434, JUDGE, 0)",
    "send the judge a signal": "os.kill(JUDGE, 0)",
    "send the parent a signal": "os.kill(os.getppid(), 0)",
    "have the kernel send the judge signals": "import fcntl\nfcntl.fcntl(0, fcntl.F_SETOWN, JUDGE)",
    "make a Landlock ruleset": "call(444, 444, (ctypes.c_char * 8)(1), 8, 0)",
    "limit the judge": "resource.prlimit(JUDGE, resource.RLIMIT_CPU, "
    "resource.prlimit(JUDGE, resource.RLIMIT_CPU))",
    "slow the judge down": "os.setpriority(os.PRIO_PROCESS, JUDGE, "
    "os.getpriority(os.PRIO_PROCESS, JUDGE))",
    "bind the judge to a processor": "os.sched_setaffinity(JUDGE, os.sched_getaffinity(JUDGE))",
    "connect by TCP": "connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', PORT))",
    "listen by TCP": "socket.create_server(('127.0.0.1', 0))",
    "send by UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    ".sendto(b'x', ('127.0.0.1', PORT))",
    "connect to a UNIX socket": "connect(socket.AF_UNIX, socket.SOCK_STREAM, UNIX)",
    "connect to an abstract socket": "connect(socket.AF_UNIX, socket.SOCK_STREAM, ABSTRACT)",
    "ask the kernel by netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "fork": "pid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)",
    "start a program": "os.waitpid(os.posix_spawn(sys.executable, ['python', '-c', ''], {}), 0)",
    "make a user namespace": "call(272, 97, 0x10000000)",
    "mount": "call(165, 40, b'none', b'/', None, 0x44000, None)",
    "set up io_uring": "call(425, 425, 1, (ctypes.c_char * 120)())",
    "handle page faults": "call(323, 282, 1)",
    "load a program into the kernel": "call(321, 280, 0, (ctypes.c_char * 72)(4), 72)",
    "count the processor's events": "call(298, 241, (ctypes.c_char * 128)(), 0, -1, -1, 0)",
    "use the kernel's keys": "call(250, 219, 0, -3, 0)",
    "share memory": "call(29, 194, 0, 4096, 0o1600)",
    "gain privileges by a program": "assert libc.prctl(39, 0, 0, 0, 0) == 0",
    "outlive the judge": "if libc.prctl(1, 0, 0, 0, 0): raise OSError",
    "hide memory in a pipe": "a, b = os.pipe()\ncall(278, 75, b, (ctypes.c_long * 2)(), 0, 0)",
    "take a share of the system's queues": "call(206, 0, 8, (ctypes.c_long * 1)())",
    "read an environment variable": "assert os.environ.keys() - {'TORCHINDUCTOR_CACHE_DIR'}",
    "take 4 GB of memory": "mmap.mmap(-1, 4 << 30)",
    "share 4 GB of memory": "torch.empty(1 << 32, dtype=torch.uint8)",
}


def permitted(workers: Workers, hidden: Path) -> dict[str, bool]:
    """Every act, and whether a sandbox worker can do it. Raises CouldNotGrade without an answer.

    hidden: one of the files that must not be readable.
    """
    with targets(hidden) as names:
        results = ask(workers, source(names), "attempt", bans=())
    if len(results) != len(ATTEMPTS):
        raise CouldNotGrade("the self-test of the sandbox gave no answer")
    return dict(zip(ATTEMPTS, map(bool, results), strict=True))


def source(names: Mapping[str, object]) -> str:
    """The program that tries all acts when its `attempt()` is called.

    names: the names that acts may use, with their values.
    """
    constants = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    return f"{constants}\nACTS = {list(ATTEMPTS.values())!r}\n{PROLOGUE}"


def ask(workers: Workers, program: str, function: str, bans: tuple[Family, ...]) -> list[int]:
    """Call `function()` of a program in a sandbox worker; the numbers of the tensor it returns.

    Raises CouldNotGrade if it returns anything else.
    """
    from attention_katas.sandbox.worker import WorkerDied, WorkerTimedOut

    worker = workers.take(function, bans)
    load = {
        "do": "load",
        "module": function,
        "sources": {function: program},
        "functions": [function],
    }
    call = {"do": "call", "id": 1, "function": function, "device": "cpu"}
    call |= {"args": pack([], {}), "kwargs": pack({}, {})}
    try:
        worker.ask(load, seconds=workers.limits.load_seconds)
        reply, tensors = worker.ask(call, seconds=workers.limits.call_seconds)
        return [int(number) for number in tensors[reply["returned"]["tensor"]]]
    except (KeyError, TypeError, ValueError, WorkerDied, WorkerTimedOut) as error:
        raise CouldNotGrade(f"{function} gave no answer: {error}") from None
    finally:
        workers.give_back(worker)


@contextmanager
def targets(hidden: Path) -> Iterator[Mapping[str, object]]:
    """Names for the files, sockets and processes that the acts try to reach, with their values."""
    with tempfile.TemporaryDirectory(prefix="kata-probe-") as folder:
        secret, victim = Path(folder, "secret"), Path(folder, "victim")
        secret.write_text("secret")
        victim.write_text("victim")
        empty = Path(folder, "empty")
        empty.touch()
        unix, abstract = str(Path(folder, "socket")), f"\0kata-probe-{os.getpid()}"
        sockets = [_listening(socket.AF_UNIX, name) for name in (unix, abstract)]
        sockets.append(_listening(socket.AF_INET, ("127.0.0.1", 0)))
        try:
            yield {
                "SECRET": str(secret),
                "VICTIM": str(victim),
                "EMPTY": str(empty),
                "NEW": str(Path(folder, "new")),
                "FOLDER": folder,
                "TESTS": str(hidden),
                "JUDGE": os.getpid(),
                "PORT": sockets[2].getsockname()[1] if sockets[2] else 9,
                "UNIX": unix,
                "ABSTRACT": abstract,
            }
        finally:
            for listener in sockets:
                if listener is not None:
                    listener.close()


def _listening(family: int, address: str | tuple[str, int]) -> socket.socket | None:
    """A listening socket; None if this system refuses it."""
    with suppress(OSError):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen(4)
        return listener
    return None
