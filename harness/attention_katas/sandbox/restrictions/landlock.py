"""Read-only files (Landlock): only Python and its libraries can be read, nothing written.

Every version of Landlock is used for what it can do: files from ABI 1 (Linux 5.13) on, TCP from
ABI 4 (6.7), signals and abstract sockets from ABI 6 (6.12). See landlock(7).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import linux

NAME = "read-only files"
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 15
# How many of the file system rights each version knows.
RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
BIND_AND_CONNECT_TCP = 0b11
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
GPU = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/dxg", "/dev/kfd")
GPU_FACTS = ("/proc/driver/nvidia", "/sys/bus/pci", "/sys/devices", "/sys/module")


@dataclass(frozen=True)
class Ruleset:
    """A ruleset that a child only has to apply.

    descriptor: of the ruleset; -1 without Landlock.
    abi: the version of Landlock that it was made for; 0 without.
    """

    descriptor: int = -1
    abi: int = 0

    @property
    def keep(self) -> tuple[int, ...]:
        """Descriptors that must stay open until the ruleset is applied."""
        return () if self.descriptor < 0 else (self.descriptor,)


def version() -> int:
    """The kernel's Landlock ABI version; 0 without Landlock."""
    if not linux.IS_LINUX:
        return 0
    return max(int(linux.libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)), 0)


def prepare(hidden: Iterable[Path], gpu: bool = False, abi: int | None = None) -> Ruleset:
    """The rules: Python and its libraries may be read, `hidden` may not. Made before forking.

    gpu: a GPU's driver may use its devices.
    abi: act as a kernel of that version would, if it is older than the real one.
    """
    abi = min(version(), abi if abi is not None else 99)
    if not abi:
        return Ruleset()
    libc = linux.libc()
    rights = (1 << RIGHTS_BY_ABI.get(abi, 16)) - 1
    # The fields were added one by one: a kernel takes the shorter struct of an older one.
    fields = [rights]
    fields += [BIND_AND_CONNECT_TCP] if abi >= 4 else []
    fields += [ABSTRACT_SOCKETS_AND_SIGNALS] if abi >= 6 else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    descriptor = int(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    if descriptor < 0:
        return Ruleset()
    for path in _readable([path.resolve() for path in hidden]):
        _allow(descriptor, path, EXECUTE | READ_FILE | READ_DIR)
    _allow(descriptor, Path("/dev/null"), READ_FILE | WRITE_FILE)
    if gpu:
        for pattern in GPU:
            for path in Path("/").glob(pattern[1:]):
                _allow(descriptor, path, READ_FILE | WRITE_FILE | (IOCTL_DEV & rights))
        for place in GPU_FACTS:
            _allow(descriptor, Path(place), READ_FILE | READ_DIR)
    return Ruleset(descriptor, abi)


def apply(ruleset: Ruleset) -> str:
    """Apply the ruleset to this process for good. Needs no_new_privs."""
    if ruleset.descriptor < 0 or linux.libc().syscall(RESTRICT_SELF, ruleset.descriptor, 0):
        return ""
    os.close(ruleset.descriptor)
    return NAME


def _allow(ruleset: int, path: Path, rights: int) -> None:
    """Add a rule for a path, if it exists."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= ~READ_DIR
    rule = struct.pack("=Qi", rights, descriptor)
    linux.libc().syscall(ADD_RULE, ruleset, 1, rule, 0)
    os.close(descriptor)


def _readable(hidden: list[Path]) -> list[Path]:
    """Files and folders that Python needs, without the hidden ones."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    roots = [prefix / part for prefix in prefixes for part in ("lib", "lib64", "bin")]
    roots += [Path(entry) for entry in sys.path if entry]
    roots += [Path("/lib"), Path("/lib64"), Path("/usr/lib"), Path("/usr/lib64")]
    roots += [Path("/etc/ld.so.cache"), Path("/usr/share/zoneinfo"), Path("/proc/cpuinfo")]
    roots += [Path("/dev/urandom"), Path("/dev/zero")]
    paths: list[Path] = []
    for root in dict.fromkeys(root.resolve() for root in roots):
        paths += _around(root, hidden)
    return paths


def _around(root: Path, hidden: list[Path]) -> list[Path]:
    """The paths below `root` that together leave out the hidden ones."""
    if any(root == path or path in root.parents for path in hidden) or not os.path.exists(root):
        return []
    if not any(root in path.parents for path in hidden):
        return [root]
    with contextlib.suppress(OSError):
        return [path for entry in root.iterdir() for path in _around(entry.resolve(), hidden)]
    return []
