"""System calls (seccomp): no processes, no sockets, nothing that reaches another process.

A filter in the kernel's BPF, assembled here: the calls of `syscalls.DENIED` are refused, and a
few others by their arguments. Refused calls fail with EPERM, so that code gets an exception.
What this carries where Landlock is old or missing: sockets, signals, limits of others.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from . import linux, syscalls

NAME = "system calls"
SET_MODE_FILTER, TSYNC = 1, 1
CLONE_THREAD = 0x10000

# One instruction is (code, jump if true, jump if false, constant).
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
# Where struct seccomp_data has the call, the architecture and the low and high words of argument n.
CALL, ARCHITECTURE = 0, 4


def _low(argument: int) -> int:
    return 16 + 8 * argument


def _high(argument: int) -> int:
    return 20 + 8 * argument


class _Program:
    """Instructions whose jumps name labels; they all go forward."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, str, int]] = []
        self.labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        self.labels[name] = len(self.lines)

    def load(self, offset: int) -> None:
        self.lines.append((LOAD, "", "", offset))

    def jump(self, test: int, constant: int, yes: str = "", no: str = "") -> None:
        """To `yes` or `no`; an empty label is the next line."""
        self.lines.append((test, yes, no, constant))

    def give(self, value: int) -> None:
        self.lines.append((RETURN, "", "", value))

    def assembled(self) -> bytes:
        return b"".join(
            struct.pack("=HBBI", code, self._skip(at, yes), self._skip(at, no), constant)
            for at, (code, yes, no, constant) in enumerate(self.lines)
        )

    def _skip(self, at: int, label: str) -> int:
        return self.labels[label] - at - 1 if label else 0


def program(pid: int, machine: str) -> bytes:
    """The filter for the process `pid`, on a machine of `syscalls.MACHINES`."""
    column, architecture = syscalls.MACHINES[machine]
    p = _Program()
    p.load(ARCHITECTURE)
    p.jump(EQUAL, architecture, no="kill")
    p.load(CALL)
    p.jump(GREATER, syscalls.LAST, yes="unknown")  # the x32 numbers are up there too
    for numbers in (syscalls.CLONE3, syscalls.OPENAT2):  # callers fall back to clone and openat
        p.jump(EQUAL, numbers[column], yes="unknown")
    special = {
        "clone": [syscalls.CLONE],
        "signal": [syscalls.KILL, syscalls.TGKILL],
        "limit": [syscalls.PRLIMIT],
        "fcntl": [syscalls.FCNTL],
        "ioctl": [syscalls.IOCTL],
        "prctl": [syscalls.PRCTL],
        "open": [syscalls.OPEN],
        "openat": [syscalls.OPENAT],
    }
    for label, calls in special.items():
        for numbers in calls:
            if numbers[column] >= 0:
                p.jump(EQUAL, numbers[column], yes=label)
    for numbers in syscalls.DENIED.values():
        if numbers[column] >= 0:
            p.jump(EQUAL, numbers[column], yes="denied")
    p.give(ALLOW)
    p.label("denied")
    p.give(REFUSE | errno.EPERM)
    for label, commands in (("fcntl", syscalls.FCNTL_COMMANDS), ("ioctl", syscalls.IOCTL_REQUESTS)):
        p.label(label)
        p.load(_low(1))
        for command in commands:
            p.jump(EQUAL, command, yes="allow")
        p.give(REFUSE | errno.EPERM)
    p.label("prctl")
    p.load(_low(0))
    for option in syscalls.PRCTL_OPTIONS:
        p.jump(EQUAL, option, yes="refuse")
    p.give(ALLOW)
    for label, argument in (("open", 1), ("openat", 2)):
        # To empty a file takes no right to write to it, before Landlock 3.
        p.label(label)
        p.load(_low(argument))
        p.jump(ANY_BIT, syscalls.O_TRUNC, no="allow")
        p.jump(ANY_BIT, syscalls.O_ACCMODE, yes="allow", no="refuse")
    p.label("clone")  # threads, no processes
    p.load(_low(0))
    p.jump(ANY_BIT, CLONE_THREAD, yes="allow", no="refuse")
    p.label("signal")  # to itself
    p.load(_low(0))
    p.jump(EQUAL, pid, yes="allow", no="refuse")
    p.label("limit")  # its own may be read
    p.load(_low(0))
    p.jump(EQUAL, 0, yes="reads")
    p.jump(EQUAL, pid, no="refuse")
    p.label("reads")
    p.load(_low(2))
    p.jump(EQUAL, 0, no="refuse")
    p.load(_high(2))
    p.jump(EQUAL, 0, yes="allow", no="refuse")
    p.label("unknown")
    p.give(REFUSE | errno.ENOSYS)
    p.label("refuse")
    p.give(REFUSE | errno.EPERM)
    p.label("allow")
    p.give(ALLOW)
    p.label("kill")
    p.give(KILL)
    return p.assembled()


def put_on() -> str:
    """The last lock: needs no_new_privs, and covers every thread there is."""
    machine = platform.machine()
    if not linux.HERE or machine not in syscalls.MACHINES:
        return ""
    code = program(os.getpid(), machine)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    )
    number = syscalls.SECCOMP[syscalls.MACHINES[machine][0]]
    return "" if linux.libc().syscall(number, SET_MODE_FILTER, TSYNC, header) else NAME
