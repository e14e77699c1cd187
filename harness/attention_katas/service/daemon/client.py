"""Asking the daemon, and starting it. Nothing here imports torch.

Whatever goes wrong with a daemon, the answer is None, and the verdict is made without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from attention_katas.packs.catalog import Catalog, Selection
from attention_katas.packs.submission import Submission
from attention_katas.sandbox import frames
from attention_katas.service import rpc
from attention_katas.service.daemon.address import Address, address, private_folder
from attention_katas.verdict import data as v

SWITCH = "KATA_COLD"
IDLE_SECONDS = 15 * 60.0
# Until a daemon must have taken a request. One that has only just begun is slow to.
ACCEPT_SECONDS = 6.0
# A fork says every second that it is at work. One that is silent for so long has been stopped.
SILENT_SECONDS = 12.0
BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1])['path']; "
BOOT += "from attention_katas.service.daemon import process; process.main(sys.argv[1])"


def why_not() -> str:
    """Why no daemon is used or left behind here, in words; "" if one may be."""
    if sys.platform != "linux":
        return "a daemon forks for every verdict, which only Linux can do safely"
    if os.environ.get(SWITCH, "") not in ("", "0"):
        return f"{SWITCH} is set"
    if os.environ.get("CI", "") not in ("", "0", "false"):
        return "CI is set"
    if _cpu_limit():
        return "the processor time of this shell is limited, and would be that of the daemon"
    if private_folder() is None:
        return "there is no private folder for its socket"
    return ""


def _cpu_limit() -> bool:
    import resource

    return resource.getrlimit(resource.RLIMIT_CPU) != (resource.RLIM_INFINITY,) * 2


class Client:
    """Asks the daemon at one address."""

    def __init__(
        self, where: Address, device: str = "auto", packs: Selection | None = None
    ) -> None:
        self.where, self.device = where, device
        self.packs = packs or Selection()

    def judge(
        self,
        submission: Submission,
        seed: int | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> v.Verdict | None:
        """The daemon's verdict; None if it has none to give.

        meanwhile: what is to be done anyway while the daemon is at work.
        """
        line = connect(self.where)
        return judge(line, submission, seed, self.device, meanwhile) if line else None

    def start(self) -> None:
        """Leave a daemon behind for the next time."""
        start(self.where, packs=self.packs)


def for_katas(catalog: Catalog, device: str) -> Client | None:
    """The client to use for these katas on this device, if a daemon may be used at all."""
    where = None if why_not() or device not in ("auto", "cpu") else address(catalog)
    return Client(where, device, catalog.selection) if where and catalog.ready else None


def connect(where: Address) -> socket.socket | None:
    """A line to the daemon, if it runs and is ours."""
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(ACCEPT_SECONDS)
    try:
        line.connect(os.fspath(where.socket))
        if rpc.is_own(line):
            return line
    except OSError:
        pass
    line.close()
    return None


def judge(
    line: socket.socket,
    submission: Submission,
    seed: int | None,
    device: str,
    meanwhile: Callable[[], object] = lambda: None,
) -> v.Verdict | None:
    """The daemon's verdict; None if it has none to give. The line is used up.

    One that does not even take the request is ended.
    """
    with contextlib.closing(line), _ended_with_us() as fork:
        try:
            asked = {"do": "judge", **submission.to_dict(), "seed": seed, "device": device}
            rpc.send(line, asked)
            taken = rpc.receive(line)
        except TimeoutError:
            with contextlib.suppress(OSError):
                os.kill(rpc.peer(line)[0], signal.SIGKILL)
            return None
        except (OSError, rpc.Garbled, frames.BadFrame):
            return None
        if taken is None or not isinstance(taken.get("taken"), int):
            return None
        fork.append(taken["taken"])
        line.settimeout(SILENT_SECONDS)
        meanwhile()
        try:
            while (answer := rpc.receive(line)) and "busy" in answer:
                continue
            verdict = v.from_builtins(answer["verdict"]) if answer else None
        except (OSError, rpc.Garbled, KeyError, ValueError):
            return None
        fork.clear()  # it ends by itself
        return verdict


@contextlib.contextmanager
def _ended_with_us() -> Iterator[list[int]]:
    """The fork that judges for us, if it has not done so when we are through with it: end it.

    It ends when we hang up, unless somebody has stopped it.
    """
    forks: list[int] = []
    try:
        yield forks
    finally:
        for pid in forks:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def ask(where: Address, what: str) -> rpc.Message | None:
    """The daemon's answer to a question about itself; None if there is none."""
    line = connect(where)
    if line is None:
        return None
    with contextlib.closing(line), contextlib.suppress(OSError, rpc.Garbled):
        rpc.send(line, {"do": what})
        return rpc.receive(line)
    return None


def start(
    where: Address, idle_seconds: float = IDLE_SECONDS, packs: Selection | None = None
) -> None:
    """Leave a daemon behind, in place of older ones. It takes some seconds to be ready."""
    from attention_katas.sandbox.worker import ONE_THREAD

    stop_others(where)
    packs = packs or Selection()
    told = {
        "path": sys.path,
        "folder": os.fspath(where.folder),
        "family": where.family,
        "key": where.key,
        "idle_seconds": idle_seconds,
        "packs": [os.fspath(folder) for folder in packs.folders],
        "only": packs.only,
    }
    optimised = ["-O"] * sys.flags.optimize
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, *optimised, "-B", "-c", BOOT, json.dumps(told)],
            cwd="/",
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        process.returncode = 0  # not ours to wait for: it outlives us


def stop_others(where: Address) -> None:
    """End the daemons of what was installed here before, and clear away what they left."""
    for older in where.others():
        if ask(older, "stop") is None and not is_held(older):
            for left in (older.socket, older.lock):
                with contextlib.suppress(OSError):
                    left.unlink()


def is_held(where: Address) -> bool:
    """Whether there is a process that is the daemon of this address, or about to be."""
    import fcntl

    try:
        with open(where.lock, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def stop(where: Address, seconds: float = 5.0) -> bool:
    """End the daemon, and those of other versions and environments; whether there was one."""
    answers = [ask(each, "stop") for each in where.all()]
    pids = [answer["stopped"] for answer in answers if answer and "stopped" in answer]
    until = time.monotonic() + seconds
    while any(map(_lives, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    return bool(pids)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
