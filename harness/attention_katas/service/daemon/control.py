"""Starting, asking and stopping the daemon. Nothing here imports torch."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

from attention_katas.packs.catalog import Catalog, Selection
from attention_katas.service import rpc
from attention_katas.service.daemon.address import Address, address, private_folder
from attention_katas.service.messages import AnyMessage, Status, StatusReport, Stop, Stopping

SWITCH = "KATA_COLD"
IDLE_SECONDS = 15 * 60.0
# Until a daemon must have taken a request. One that has only just begun is slow to.
ACCEPT_SECONDS = 6.0
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
    if _has_cpu_limit():
        return "the processor time of this shell is limited, and would be that of the daemon"
    if private_folder() is None:
        return "there is no private folder for its socket"
    return ""


def _has_cpu_limit() -> bool:
    import resource

    return resource.getrlimit(resource.RLIMIT_CPU) != (resource.RLIM_INFINITY,) * 2


def address_for(catalog: Catalog, device: str) -> Address | None:
    """Where the daemon for these katas on this device is; None where none may be used."""
    if not catalog.ready or device not in ("auto", "cpu") or why_not():
        return None
    return address(catalog)


def connect(where: Address) -> socket.socket | None:
    """A connection to the daemon, if it runs and belongs to this user."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ACCEPT_SECONDS)
    try:
        connection.connect(os.fspath(where.socket))
        if rpc.is_own(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def status(where: Address) -> StatusReport | None:
    """How the daemon at this address is; None if there is none."""
    reply = _ask(where, Status())
    return reply if isinstance(reply, StatusReport) else None


def _ask(where: Address, message: AnyMessage) -> AnyMessage | None:
    """The daemon's reply to one message; None if there is none."""
    connection = connect(where)
    if connection is None:
        return None
    with contextlib.closing(connection), contextlib.suppress(OSError, rpc.Garbled):
        rpc.send(connection, message)
        reply = rpc.receive(connection)
        return reply[0] if reply else None
    return None


def start(
    where: Address, idle_seconds: float = IDLE_SECONDS, packs: Selection | None = None
) -> None:
    """Leave a daemon behind, in place of older ones. It takes some seconds to be ready.

    packs: those that the command line names.
    """
    packs = packs or Selection()
    from attention_katas.sandbox.worker import ONE_THREAD

    stop_older(where)
    arguments = {
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
            [sys.executable, *optimised, "-B", "-c", BOOT, json.dumps(arguments)],
            cwd="/",
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        process.returncode = 0  # it outlives this process, which must not wait for it


def stop_older(where: Address) -> None:
    """End the daemons of what was installed here before, and remove the files they left."""
    for older in where.others():
        if _ask(older, Stop()) is None and not is_locked(older):
            for path in (older.socket, older.lock):
                with contextlib.suppress(OSError):
                    path.unlink()


def is_locked(where: Address) -> bool:
    """Whether a process is the daemon of this address, or about to be."""
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
    """End the daemon, and those of other versions and environments; whether there was one.

    seconds: how long to wait for them to end.
    """
    replies = [_ask(address, Stop()) for address in where.all()]
    pids = [reply.pid for reply in replies if isinstance(reply, Stopping)]
    deadline = time.monotonic() + seconds
    while any(map(_is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(pids)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
