"""Try every forbidden act from where a learner's code runs, and see which doors are shut.

The acts go the way of any submission: as source text, into a locked learner process, which
answers with a tensor of zeros (refused) and ones (done). Each leaves things as they were.
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

# What an act may use: the paths and the pid of `places_of`, and `call(number, ...)`, a system call.
PROLOGUE = """
import ctypes, mmap, os, resource, socket, sys, threading
import torch

libc = ctypes.CDLL(None, use_errno=True)

def call(x86_64, aarch64, *arguments):
    number = {"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine]
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = libc.syscall(ctypes.c_long(number), *given)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer

def connect(family, kind, address):
    with socket.socket(family, kind) as line:
        line.settimeout(1)
        line.connect(address)

def probe():
    found = []
    for act in ACTS:
        try:
            exec(act, dict(globals()))
        except BaseException:
            found.append(0)
        else:
            found.append(1)
    return torch.tensor(found)
"""

ATTEMPTS: dict[str, str] = {
    # The first, since later ones open files of their own.
    "use a descriptor of the judge's": "found = 0\nfor d in range(3, 256):\n"
    "    try: os.fstat(d)\n    except OSError: continue\n    found += 1\nassert found > 3",
    "read a file": "open(SECRET).read()",
    "read the hidden tests": "open(TESTS).read()",
    "list a folder": "os.listdir(FOLDER)",
    "write a file": "open(SECRET, 'a').close()",
    "make a folder": "os.mkdir(NEW)",
    "delete a file": "os.remove(VICTIM)",
    "cut a file": "os.truncate(SECRET, 6)",
    "empty a file opened for reading": "os.open(EMPTY, os.O_RDONLY | os.O_TRUNC)",
    "flag a file": "call(16, 29, os.open(os.__file__, 0), 0x40086602, (ctypes.c_char * 8)())",
    "keep others from a file": "import fcntl\nfcntl.fcntl(os.open(os.devnull, 0), 1026, 0)",
    "watch a folder": "call(254, 27, call(294, 26, 0), b'/', 256)",
    "change a file's mode": "os.chmod(SECRET, 0o600)",
    "change a file's times": "os.utime(SECRET)",
    "change a file's attributes": "os.setxattr(SECRET, 'user.kata', b'1')",
    "make a file in memory": "os.memfd_create('kata')",
    "read the judge's environment": "open(f'/proc/{JUDGE}/environ', 'rb').read(1)",
    "read the judge's memory": "open(f'/proc/{JUDGE}/mem', 'rb')",
    "list what the judge has open": "os.listdir(f'/proc/{JUDGE}/fd')",
    "look into the judge's memory": "call(310, 270, JUDGE, 0, 0, 0, 0, 0)",
    "trace the judge": "call(101, 117, 0x4206, JUDGE, 0, 0)",
    "get hold of the judge": "call(434, 434, JUDGE, 0)",
    "send the judge a signal": "os.kill(JUDGE, 0)",
    "send the parent a signal": "os.kill(os.getppid(), 0)",
    "have the kernel send the judge signals": "import fcntl\nfcntl.fcntl(0, fcntl.F_SETOWN, JUDGE)",
    "change the rules of processes to come": "call(444, 444, (ctypes.c_char * 8)(1), 8, 0)",
    "limit the judge": "resource.prlimit(JUDGE, resource.RLIMIT_CPU, "
    "resource.prlimit(JUDGE, resource.RLIMIT_CPU))",
    "slow the judge down": "os.setpriority(os.PRIO_PROCESS, JUDGE, "
    "os.getpriority(os.PRIO_PROCESS, JUDGE))",
    "bind the judge to a processor": "os.sched_setaffinity(JUDGE, os.sched_getaffinity(JUDGE))",
    "connect by TCP": "connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', PORT))",
    "listen by TCP": "socket.create_server(('127.0.0.1', 0))",
    "send by UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
    ".sendto(b'x', ('127.0.0.1', PORT))",
    "connect to a UNIX socket": "connect(socket.AF_UNIX, socket.SOCK_STREAM, DOOR)",
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
    """Act -> whether it can be done. Raises CouldNotGrade when no answer comes.

    hidden: one of the files that must not be readable.
    """
    with places_of(hidden) as places:
        found = ask(workers, source(places), "probe", bans=())
    if len(found) != len(ATTEMPTS):
        raise CouldNotGrade("the probes of the locks gave no answer")
    return dict(zip(ATTEMPTS, map(bool, found), strict=True))


def source(places: Mapping[str, object]) -> str:
    """The program that tries all acts; its `probe()` answers."""
    facts = "\n".join(f"{name} = {value!r}" for name, value in places.items())
    return f"{facts}\nACTS = {list(ATTEMPTS.values())!r}\n{PROLOGUE}"


def ask(workers: Workers, program: str, function: str, bans: tuple[Family, ...]) -> list[int]:
    """What `function()` of a program answers in a learner process, a tensor of numbers, as a list.

    Raises CouldNotGrade when anything else comes back.
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
        reply, sent = worker.ask(call, seconds=workers.limits.call_seconds)
        return [int(number) for number in sent[reply["returned"]["tensor"]]]
    except (KeyError, TypeError, ValueError, WorkerDied, WorkerTimedOut) as error:
        raise CouldNotGrade(f"{function} gave no answer: {error}") from None
    finally:
        workers.give_back(worker)


@contextmanager
def places_of(hidden: Path) -> Iterator[Mapping[str, object]]:
    """Files, sockets and processes that the acts reach for."""
    with tempfile.TemporaryDirectory(prefix="kata-probe-") as folder:
        secret, victim = Path(folder, "secret"), Path(folder, "victim")
        secret.write_text("secret")
        victim.write_text("victim")
        empty = Path(folder, "empty")
        empty.touch()
        door, abstract = str(Path(folder, "door")), f"\0kata-probe-{os.getpid()}"
        lines = [_listening(socket.AF_UNIX, name) for name in (door, abstract)]
        lines.append(_listening(socket.AF_INET, ("127.0.0.1", 0)))
        try:
            yield {
                "SECRET": str(secret),
                "VICTIM": str(victim),
                "EMPTY": str(empty),
                "NEW": str(Path(folder, "new")),
                "FOLDER": folder,
                "TESTS": str(hidden),
                "JUDGE": os.getpid(),
                "PORT": lines[2].getsockname()[1] if lines[2] else 9,
                "DOOR": door,
                "ABSTRACT": abstract,
            }
        finally:
            for line in lines:
                if line is not None:
                    line.close()


def _listening(family: int, address: str | tuple[str, int]) -> socket.socket | None:
    with suppress(OSError):
        line = socket.socket(family, socket.SOCK_STREAM)
        line.bind(address)
        line.listen(4)
        return line
    return None
