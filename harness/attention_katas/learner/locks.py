"""What a learner process may not do, one function per lock, in the order they are put on.

The order matters: descriptors first, then the session and its limits, then the file system.
Each function returns the name of the lock when it holds and "" when this system has no such
lock, so that a verdict can say which locks were on. More locks slot in behind `ALL`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows has none; the time and output limits still hold there.
    resource = None  # type: ignore[assignment]

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
# How many of the file system rights each Landlock version knows (landlock(7)).
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}

MiB = 1 << 20


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def empty_environment() -> str:
    """No variable of the judge's is left to read or to inherit."""
    os.environ.clear()
    return "empty environment"


def own_session(parent: int) -> str:
    """A session of its own that dies with its parent; ends at once if that is gone already."""
    if not hasattr(os, "setsid"):
        return ""
    with contextlib.suppress(OSError):
        os.setsid()
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
    return "own session"


def adopt_orphans() -> None:
    """Whatever a descendant leaves behind becomes a child of this process, to be ended by it."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of(pid: int) -> list[int]:
    """The children of a process; nothing where the system does not say."""
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except (OSError, ValueError):
        return []


def limits(memory_mb: int, cpu_seconds: int) -> str:
    """Memory, file size, descriptors, core dumps and processor time.

    memory_mb is what the code may take on top of the process as it stands now (0: no limit, for
    devices that reserve address space by the terabyte).
    """
    if resource is None:
        return ""
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    _cap(resource.RLIMIT_NOFILE, 64)
    _cap(resource.RLIMIT_CPU, cpu_seconds)
    size = _address_space()
    if memory_mb and size:
        _cap(resource.RLIMIT_AS, size + memory_mb * MiB)
        return "memory, time and size limits"
    return "time and size limits"


def _cap(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Bytes of address space this process has now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        return 0
    return pages * resource.getpagesize()


def files_ruleset(hidden: Iterable[Path]) -> int:
    """A Landlock ruleset: Python and its libraries may be read, `hidden` not, nothing written.

    Returns its descriptor, or -1 where the kernel has no Landlock. Built once, before forking:
    a child only has to put it on.
    """
    if sys.platform != "linux":
        return -1
    libc = _libc()
    abi = libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return -1
    handled = (1 << _RIGHTS_BY_ABI.get(abi, 16)) - 1
    attributes = struct.pack("=Q", handled)
    ruleset = int(libc.syscall(LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(8), 0))
    if ruleset < 0:
        return -1
    for path in _readable([path.resolve() for path in hidden]):
        _allow(libc, ruleset, path)
    return ruleset


def _allow(libc: Any, ruleset: int, path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = EXECUTE | READ_FILE | (READ_DIR if path.is_dir() else 0)
    if path == Path("/dev/null"):
        rights |= WRITE_FILE
    rule = struct.pack("=Qi", rights, descriptor)
    libc.syscall(LANDLOCK_ADD_RULE, ruleset, 1, rule, 0)
    os.close(descriptor)


def _readable(hidden: list[Path]) -> list[Path]:
    """Files and folders that Python needs, going round the hidden ones."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    roots = [prefix / part for prefix in prefixes for part in ("lib", "lib64", "bin")]
    roots += [Path(entry) for entry in sys.path if entry]
    roots += [Path("/lib"), Path("/lib64"), Path("/usr/lib"), Path("/usr/lib64")]
    roots += [Path("/etc/ld.so.cache"), Path("/usr/share/zoneinfo"), Path("/proc/cpuinfo")]
    roots += [Path("/dev/null"), Path("/dev/urandom"), Path("/dev/zero")]
    found: list[Path] = []
    for root in dict.fromkeys(root.resolve() for root in roots):
        found += _around(root, hidden)
    return found


def _around(root: Path, hidden: list[Path]) -> list[Path]:
    if any(root == path or path in root.parents for path in hidden) or not root.exists():
        return []
    if not any(root in path.parents for path in hidden):
        return [root]
    with contextlib.suppress(OSError):
        return [found for entry in root.iterdir() for found in _around(entry.resolve(), hidden)]
    return []


def files(ruleset: int) -> str:
    """Put the ruleset on: from here nothing can be written and only Python can be read."""
    if ruleset < 0:
        return ""
    libc = _libc()
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return "" if libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) else "read-only files"


def private_descriptors(keep: Iterable[int]) -> str:
    """Close every descriptor except the three standard ones and `keep`."""
    wanted = sorted({0, 1, 2, *keep})
    for low, high in zip(wanted, [*wanted[1:], 4096], strict=True):
        os.closerange(low + 1, high)
    return "closed descriptors"
