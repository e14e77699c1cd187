"""System calls (seccomp): no processes, no sockets, nothing that reaches another process.

A BPF filter, assembled here: the calls of `syscalls.DENIED` are refused, and a few others by their
arguments. Refused calls fail with EPERM, so that code gets an exception. Where Landlock is old or
missing this alone refuses sockets, signals, limits of other processes and changes of files.
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
# Offsets in struct seccomp_data: the call, the architecture, the low and high word of argument n.
CALL, ARCHITECTURE = 0, 4


def _low(argument: int) -> int:
    return 16 + 8 * argument


def _high(argument: int) -> int:
    return 20 + 8 * argument


class _Program:
    """A BPF program. Jumps name labels and go forward."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, str, int]] = []
        self.labels: dict[str, int] = {}

    def label(self, name: str) -> None:
        self.labels[name] = len(self.lines)

    def load(self, offset: int) -> None:
        self.lines.append((LOAD, "", "", offset))

    def jump(self, test: int, constant: int, yes: str = "", no: str = "") -> None:
        """Jump to `yes` or `no`; an empty label is the next instruction."""
        self.lines.append((test, yes, no, constant))

    def finish(self, value: int) -> None:
        self.lines.append((RETURN, "", "", value))

    def assemble(self) -> bytes:
        """The instructions as the kernel takes them."""
        return b"".join(
            struct.pack("=HBBI", code, self._skip(at, yes), self._skip(at, no), constant)
            for at, (code, yes, no, constant) in enumerate(self.lines)
        )

    def _skip(self, at: int, label: str) -> int:
        return self.labels[label] - at - 1 if label else 0


def program(pid: int, machine: str, writes: bool = True) -> bytes:
    """The filter for the process `pid`, on a machine of `syscalls.MACHINES`.

    writes: files may be opened for writing, because Landlock refuses that.

    A jump reaches 255 instructions, so calls with arguments come before the long list.
    """
    column, architecture = syscalls.MACHINES[machine]
    p = _Program()
    p.load(ARCHITECTURE)
    p.jump(EQUAL, architecture, yes="known")
    p.finish(KILL)
    p.label("known")
    p.load(CALL)
    p.jump(GREATER, syscalls.LAST, yes="unknown")  # so are the x32 numbers
    p.jump(EQUAL, syscalls.CLONE3[column], yes="unknown")  # callers fall back to clone
    p.jump(EQUAL, syscalls.OPENAT2[column], yes="unknown", no="old")  # and to openat
    p.label("unknown")
    p.finish(REFUSE | errno.ENOSYS)
    p.label("old")
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
    p.jump(EQUAL, 0, yes="list", no="list")
    _by_arguments(p, pid, writes)
    p.label("list")
    for numbers in syscalls.DENIED.values():
        if numbers[column] >= 0:
            p.jump(EQUAL, numbers[column], yes="denied")
    p.finish(ALLOW)
    p.label("denied")
    p.finish(REFUSE | errno.EPERM)
    return p.assemble()


def _by_arguments(p: _Program, pid: int, writes: bool) -> None:
    """Add the calls that are allowed or refused by their arguments."""
    for label, commands in (("fcntl", syscalls.FCNTL_COMMANDS), ("ioctl", syscalls.IOCTL_REQUESTS)):
        p.label(label)
        p.load(_low(1))
        for command in commands:
            p.jump(EQUAL, command, yes="allow")
        p.finish(REFUSE | errno.EPERM)
    p.label("prctl")
    p.load(_low(0))
    for option in syscalls.PRCTL_OPTIONS:
        p.jump(EQUAL, option, yes="refuse")
    p.finish(ALLOW)
    for label, argument in (("open", 1), ("openat", 2)):
        p.label(label)
        p.load(_low(argument))
        if writes:  # before ABI 3 Landlock lets a file be truncated without the right to write
            p.jump(ANY_BIT, syscalls.O_TRUNC, no="allow")
            p.jump(ANY_BIT, syscalls.O_ACCMODE, yes="allow", no="refuse")
        else:
            changing = syscalls.O_TRUNC | syscalls.O_ACCMODE | syscalls.O_CREAT
            p.jump(ANY_BIT, changing, yes="refuse", no="allow")
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
    p.label("refuse")
    p.finish(REFUSE | errno.EPERM)
    p.label("allow")
    p.finish(ALLOW)


def apply(writes: bool = True) -> str:
    """Apply the filter to all threads, for good. Needs no_new_privs; the last restriction.

    writes: files may be opened for writing, because Landlock refuses that.
    """
    machine = platform.machine()
    if not linux.IS_LINUX or machine not in syscalls.MACHINES:
        return ""
    code = program(os.getpid(), machine, writes)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(
        struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    )
    number = syscalls.SECCOMP[syscalls.MACHINES[machine][0]]
    return "" if linux.libc().syscall(number, SET_MODE_FILTER, TSYNC, header) else NAME
