"""Asking the workshop, and starting it. Nothing here imports torch.

Whatever goes wrong with a workshop, the answer is None, and the verdict is made without one.
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
from collections.abc import Callable

from attention_katas import verdict as v
from attention_katas.catalog import Catalog, content_root
from attention_katas.submission import Submission
from attention_katas.workshop import messages
from attention_katas.workshop.address import Address, address

SWITCH = "KATA_COLD"
IDLE_SECONDS = 15 * 60.0
# Until a workshop must have taken a request. One that has only just begun is slow to.
ACCEPT_SECONDS = 6.0
BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1])['path']; "
BOOT += "from attention_katas.workshop import process; process.main(sys.argv[1])"


def why_not() -> str:
    """Why no workshop is used or left behind here, in words; "" if one may be."""
    if sys.platform != "linux":
        return "a workshop forks for every verdict, which only Linux can do safely"
    if os.environ.get(SWITCH, "") not in ("", "0"):
        return f"{SWITCH} is set"
    if os.environ.get("CI", "") not in ("", "0", "false"):
        return "CI is set"
    if address() is None:
        return "there is no private folder for its socket"
    return ""


class Client:
    """Asks the workshop at one address."""

    def __init__(self, where: Address, device: str = "auto") -> None:
        self.where, self.device = where, device

    def judge(
        self,
        submission: Submission,
        seed: int | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> v.Verdict | None:
        """The workshop's verdict; None if it has none to give.

        meanwhile: what is to be done anyway while the workshop is at work.
        """
        line = connect(self.where)
        return judge(line, submission, seed, self.device, meanwhile) if line else None

    def start(self) -> None:
        """Leave a workshop behind for the next time."""
        start(self.where)


def for_katas(catalog: Catalog, device: str) -> Client | None:
    """The client to use for these katas on this device, if a workshop may be used at all."""
    where = None if why_not() else address()
    ours = catalog.folder == content_root() / "katas"
    return Client(where, device) if where and ours and device in ("auto", "cpu") else None


def connect(where: Address) -> socket.socket | None:
    """A line to the workshop, if it runs and is ours."""
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(ACCEPT_SECONDS)
    try:
        line.connect(os.fspath(where.socket))
        if messages.is_own(line):
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
    """The workshop's verdict; None if it has none to give. The line is used up.

    One that does not even take the request is ended.
    """
    with contextlib.closing(line):
        try:
            messages.send(line, {**messages.pack(submission, seed), "device": device})
            taken = messages.receive(line)
        except TimeoutError:
            with contextlib.suppress(OSError):
                os.kill(messages.peer(line)[0], signal.SIGKILL)
            return None
        except (OSError, messages.Garbled):
            return None
        if taken is None or "taken" not in taken:
            return None
        line.settimeout(None)
        meanwhile()
        try:
            answer = messages.receive(line)
            return v.from_dict(answer["verdict"]) if answer else None
        except (OSError, messages.Garbled, KeyError, TypeError):
            return None


def ask(where: Address, what: str) -> messages.Message | None:
    """The workshop's answer to a question about itself; None if there is none."""
    line = connect(where)
    if line is None:
        return None
    with contextlib.closing(line), contextlib.suppress(OSError, messages.Garbled):
        messages.send(line, {"do": what})
        return messages.receive(line)
    return None


def start(where: Address, idle_seconds: float = IDLE_SECONDS) -> None:
    """Leave a workshop behind, in place of older ones. It takes some seconds to be ready."""
    from attention_katas.learner.host import ONE_THREAD

    stop_others(where)
    told = {
        "path": sys.path,
        "folder": os.fspath(where.folder),
        "family": where.family,
        "key": where.key,
        "idle_seconds": idle_seconds,
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
    """End the workshops of what was installed here before, and clear away what they left."""
    for path in where.others():
        older = Address(where.folder, where.family, path.stem.rpartition("-")[2])
        if ask(older, "stop") is None:
            for left in (older.socket, older.lock):
                with contextlib.suppress(OSError):
                    left.unlink()


def stop(where: Address, seconds: float = 5.0) -> bool:
    """End the workshop; whether there was one."""
    answer = ask(where, "stop")
    pid = answer.get("stopped") if answer else None
    until = time.monotonic() + seconds
    while isinstance(pid, int) and _lives(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return isinstance(pid, int)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
