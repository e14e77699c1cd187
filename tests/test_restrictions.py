"""Each lock by itself and all together: what is tried from inside is refused, and only that."""

from __future__ import annotations

import errno
import json
import os
import platform
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from attention_katas import cli, doctor
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import ban_check
from attention_katas.sandbox import restrictions, selftest
from attention_katas.sandbox.restrictions import apply, landlock, seccomp, syscalls
from attention_katas.sandbox.start import start_workers
from attention_katas.service.local import hidden_paths, open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.conftest import submission_of
from tests.test_cli import RIGHT

linux = pytest.mark.skipif(sys.platform != "linux", reason="the locks are Linux's")
HARNESS = Path(restrictions.__file__).parents[3]
# What this machine refuses everybody, locked or not (containers forbid some of these).
MAYBE = {
    "mount",
    "load a program into the kernel",
    "count the processor's events",
    "make a user namespace",
    "set up io_uring",
    "handle page faults",
    "use the kernel's keys",
    "read the judge's memory by a system call",
    "trace the judge",
    "read the judge's memory",
    "change a file's attributes",
    "ask the kernel by netlink",
}


@pytest.fixture(scope="module", params=[False, True], ids=["forked", "spawned"])
def workers(catalog, request):
    with start_workers(hidden_paths(catalog), spawn=request.param) as found:
        yield found


@linux
def test_every_forbidden_act_is_refused(workers, catalog):
    doors = selftest.permitted(workers, catalog["softmax"].tests)
    worker = workers.take("softmax", ())
    lacking = restrictions.missing(worker.restrictions)
    workers.give_back(worker)
    if lacking:
        pytest.skip(f"this system lacks {lacking}")
    assert [act for act, done in doors.items() if done] == []


WITH = """
import ctypes, json, mmap, os, resource, socket, sys, threading
sys.path.insert(0, {harness!r})
import torch
from dataclasses import replace
from pathlib import Path
from attention_katas.sandbox.restrictions.apply import *
from attention_katas.sandbox.restrictions import landlock, linux
{before}
space = {{}}
exec({program!r}, space)
{apply}
print(json.dumps(space["attempt"]().tolist()))
"""


def acts_done(catalog, apply: str, before: str = "") -> set[str]:
    """The acts that succeed in a process of its own that puts on some locks."""
    with selftest.targets(catalog["softmax"].tests) as places:
        program = WITH.format(
            harness=str(HARNESS), program=selftest.source(places), apply=apply, before=before
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LANG": "C"},
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {act for act, was in zip(selftest.ATTEMPTS, found, strict=True) if was}


ALL_ON = (
    "apply_all((), os.getppid(), landlock.prepare([Path({tests!r}).parents[1]], abi={abi}), "
    "memory_mb=512, cpu_seconds=60)"
)


@linux
def test_without_locks_the_acts_are_possible(catalog):
    """Else that they are refused would say nothing."""
    before = "kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(9)]"
    assert set(selftest.ATTEMPTS) - acts_done(catalog, "", before) <= MAYBE


@linux
@pytest.mark.skipif(platform.machine() not in syscalls.MACHINES, reason="no table of calls")
@pytest.mark.parametrize("abi", range(8))
def test_old_kernels_too(catalog, abi):
    """Landlock of every version; what an old one lacks, the system calls make up for."""
    if abi > landlock.version():
        pytest.skip(f"this kernel has Landlock {landlock.version()}")
    tests = str(catalog["softmax"].tests)
    done = acts_done(catalog, ALL_ON.format(tests=tests, abi=abi))
    reading = {
        "read a file",
        "read the hidden tests",
        "list a folder",
        "list what the judge has open",
    }
    reading |= {"read the judge's environment"}
    assert done <= (set() if abi else reading | MAYBE)


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_as_an_ordinary_user(catalog):
    if not landlock.version() or platform.machine() not in syscalls.MACHINES:
        pytest.skip("this system lacks locks")
    tests = str(catalog["softmax"].tests)
    done = acts_done(
        catalog, ALL_ON.format(tests=tests, abi=99), "os.setgid(65534); os.setuid(65534)"
    )
    assert done == set()


@linux
def test_each_lock_stops_what_no_other_one_does(catalog):
    """Take one away, and something opens: none is there for show."""
    if restrictions.missing(held(catalog)):
        pytest.skip("this system lacks locks")
    parts = {
        "descriptors": "descriptors.apply(())",
        "environment": "environment.apply()",
        "resources": "resources.apply(512, 60)",
        "privileges": "privileges.apply()",
        "landlock": f"landlock.apply(landlock.prepare([Path({str(HARNESS)!r})]))",
        "seccomp": "seccomp.apply()",
    }
    opened_by = {
        "descriptors": "use a descriptor of the judge's",
        "environment": "read an environment variable",
        "resources": "share 4 GB of memory",
        "privileges": None,  # the two that follow need it
        "landlock": "read a file",
        "seccomp": "connect to a UNIX socket",
    }
    fill = "kept = [os.open('/dev/null', os.O_RDONLY) for _ in range(9)]\n"
    fill += "for d in kept: os.set_inheritable(d, True)\n"
    for name, act in opened_by.items():
        if act is not None:
            rest = [text for part, text in parts.items() if part != name]
            assert act in acts_done(catalog, fill + "\n".join(rest)), name


def held(catalog) -> list[str]:
    with start_workers(hidden_paths(catalog)) as workers:
        worker = workers.take("k", ())
        workers.give_back(worker)
        return worker.restrictions


def verdict_of(program: bytes, number: int, arch: int, *arguments: int) -> int:
    """What the kernel would make of a call: a small interpreter of its BPF."""
    lines = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    words = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    at = value = 0
    while True:
        code, yes, no, constant = lines[at]
        at += 1
        if code == seccomp.LOAD:
            value = struct.unpack_from("=I", words, constant)[0]
        elif code == seccomp.RETURN:
            return constant
        else:
            tests = {
                seccomp.EQUAL: value == constant,
                seccomp.GREATER: value > constant,
                seccomp.ANY_BIT: bool(value & constant),
            }
            at += yes if tests[code] else no


@pytest.mark.parametrize("machine", list(syscalls.MACHINES))
def test_the_filter_on_both_machines(machine):
    column, arch = syscalls.MACHINES[machine]
    program = seccomp.program(4321, machine)

    def call(name_or_pair, *arguments):
        pair = syscalls.DENIED.get(name_or_pair, name_or_pair)
        return verdict_of(program, pair[column], arch, *arguments)

    def reading(pair, *arguments):
        """Without Landlock: nothing is opened for writing."""
        only = seccomp.program(4321, machine, writes=False)
        return verdict_of(only, pair[column], arch, *arguments)

    refused, unknown = seccomp.REFUSE | errno.EPERM, seccomp.REFUSE | errno.ENOSYS
    for name, numbers in syscalls.DENIED.items():
        if numbers[column] >= 0:
            assert call(name) == refused, name
    for command in syscalls.FCNTL_COMMANDS:
        assert call(syscalls.FCNTL, 3, command) == seccomp.ALLOW
    for command in (8, 10, 15, 1024, 1026, 1031, 1033):  # F_SETOWN ... F_ADD_SEALS
        assert call(syscalls.FCNTL, 3, command) == refused
    for request in syscalls.IOCTL_REQUESTS:
        assert call(syscalls.IOCTL, 3, request) == seccomp.ALLOW
    for request in (0x8901, 0x8902, 0x5412, 0x541C, 0x40086602, 0x8910, 0x8901 | 1 << 32):
        assert call(syscalls.IOCTL, 3, request) == refused  # the kernel looks at 32 bits
    for option in syscalls.PRCTL_OPTIONS:
        assert call(syscalls.PRCTL, option) == refused
    assert call(syscalls.PRCTL, 15) == seccomp.ALLOW  # a thread's name
    assert call(syscalls.OPENAT2) == unknown
    for pair, before in ((syscalls.OPEN, (0,)), (syscalls.OPENAT, (3, 0))):
        if pair[column] >= 0:
            assert call(pair, *before, 0) == call(pair, *before, 0o1001) == seccomp.ALLOW
            assert call(pair, *before, 0o1000) == refused  # O_RDONLY | O_TRUNC
            assert reading(pair, *before, 0o2000000) == seccomp.ALLOW  # O_CLOEXEC
            for flags in (0o1, 0o2, 0o100, 0o1000, 0o1101, 0o20000002):
                assert reading(pair, *before, flags) == refused
    for number in ((0, 63), (1, 64), (9, 222), (202, 98)):  # read, write, mmap, futex
        assert call(number) == seccomp.ALLOW
    assert call(syscalls.CLONE, 0x3D0F00) == seccomp.ALLOW  # what glibc asks for a thread
    assert call(syscalls.CLONE, 17) == refused  # and for a process
    assert call(syscalls.CLONE3) == unknown
    for one in (syscalls.KILL, syscalls.TGKILL):
        assert call(one, 4321) == seccomp.ALLOW
        for other in (1, 4320, 0, 2**32 - 1, 2**64 - 1):
            assert call(one, other) == refused
    assert call(syscalls.PRLIMIT, 0, 0, 0, 1) == seccomp.ALLOW
    assert call(syscalls.PRLIMIT, 4321, 0, 0, 1) == seccomp.ALLOW
    assert call(syscalls.PRLIMIT, 0, 0, 1 << 32, 0) == refused
    assert call(syscalls.PRLIMIT, 0, 0, 4096, 0) == refused
    assert call(syscalls.PRLIMIT, 99, 0, 0, 1) == refused
    assert verdict_of(program, syscalls.LAST + 1, arch) == unknown
    assert verdict_of(program, 0x40000039, arch) == unknown  # fork by its x32 number
    assert verdict_of(program, 2, 0x40000003) == seccomp.KILL  # int 0x80


@linux
def test_numbers_are_those_of_this_kernel(tmp_path):
    """The table against the system's own header, where there is one."""
    header = Path("/usr/include") / f"{platform.machine()}-linux-gnu" / "asm" / "unistd_64.h"
    if not header.exists() or platform.machine() != "x86_64":
        pytest.skip("no header of the kernel's here")
    lines = (line.split() for line in header.read_text().splitlines() if "__NR_" in line)
    numbers = {part[1].removeprefix("__NR_"): int(part[2]) for part in lines if len(part) == 3}
    for name, (number, _) in syscalls.DENIED.items():
        assert numbers.get(name, number) == number, name


@linux
def test_strict_refuses_when_a_lock_is_missing(catalog, monkeypatch, tmp_path):
    monkeypatch.setattr(ban_check, "record_path", lambda: tmp_path / "canaries.json")
    monkeypatch.setattr(restrictions, "ALL", (*restrictions.ALL, "a lock of the future"))
    with open_judge(catalog, [catalog["softmax"]], strict=True) as judge:
        verdict = judge.judge(submission_of(catalog, "softmax", RIGHT))
    assert verdict.outcome == "could not grade"
    assert "a lock of the future" in words.verdict(verdict)
    assert "--allow-weak-sandbox" in words.next_step(verdict)


@linux
def test_strict_passes_with_all_locks_and_keeps_what_the_canary_said(
    catalog, monkeypatch, tmp_path
):
    if restrictions.missing(held(catalog)):
        pytest.skip("this system lacks locks")
    kept = tmp_path / "deep" / "canaries.json"
    monkeypatch.setattr(ban_check, "record_path", lambda: kept)
    tried = []
    monkeypatch.setattr(ban_check, "attempt", spy(tried, ban_check.attempt))
    for expected in (True, False):
        tried.clear()
        with open_judge(catalog, [catalog["scale"]], strict=True) as judge:
            right = catalog["scale"].reference.read_text(encoding="utf-8")
            assert judge.judge(submission_of(catalog, "scale", right)).outcome == "passed"
        assert any("flex_attention" in route for found in tried for route in found) == expected
        assert tried
    assert json.loads(kept.read_text(encoding="utf-8"))


@linux
def test_a_missing_lock_is_told_once_in_a_workspace(catalog, monkeypatch, tmp_path):
    monkeypatch.setattr(restrictions, "ALL", (*restrictions.ALL, "a lock of the future"))
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(cli.main, ["init", "."]).exit_code == 0
    Path("softmax.py").write_text(RIGHT, encoding="utf-8")
    told = [runner.invoke(cli.main, ["run", "softmax"]).output for _ in range(2)]
    assert "this system lacks sandbox restrictions: a lock of the future" in " ".join(
        told[0].split()
    )
    assert "a lock of the future" not in told[1]
    strict = runner.invoke(cli.main, ["run", "softmax", "--strict"])
    assert strict.exit_code == 3
    weak = runner.invoke(cli.main, ["run", "softmax", "--strict", "--allow-weak-sandbox"])
    assert weak.exit_code == 0
    assert "sandbox restrictions: closed descriptors, own session" in weak.output


def test_a_user_without_a_home(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert str(ban_check.record_path()).startswith(os.devnull)


def test_doctor_knows_every_lock():
    assert tuple(doctor.RESTRICTIONS) == restrictions.ALL


def test_every_lock_is_listed_by_its_name():
    assert set(restrictions.ALL) == {
        module.NAME for module in vars(apply).values() if named(module)
    }


def named(module):
    return hasattr(module, "apply") and hasattr(module, "NAME")


def spy(seen, original):
    def tried(workers, bans, found):
        seen.append(found)
        return original(workers, bans, found)

    return tried


def test_an_open_route_is_our_fault(catalog):
    """A ban that does not bite: nothing is judged, and the route is named."""
    (attention,) = catalog["scale"].banned
    leaky = replace(attention, short=("torch.softmax(x, -1)", "x.matmul(x.mT)"))
    scale = replace(catalog["scale"], banned=(leaky,))
    with open_judge(catalog, [scale]) as judge:
        right = scale.reference.read_text(encoding="utf-8")
        verdict = judge.judge(replace(submission_of(catalog, "scale", right), kata=scale))
    assert verdict.outcome == "could not grade"
    assert "torch.softmax(x, -1)" in words.verdict(verdict)


def test_no_known_route_is_open(workers, catalog):
    families = tuple(dict.fromkeys(family for kata in catalog.ready for family in kata.banned))
    assert {family.name for family in families} >= {"attention", "softmax"}
    assert ban_check.check(workers, families, ban_check.SHORT, ban_check.FULL) > 80


def test_what_is_odd_is_noted(submit):
    source = RIGHT.replace("def softmax", "import ctypes, gc\ndef softmax").replace(
        "    e = ", "    gc.get_objects(); ctypes.CDLL(None)\n    e = "
    )
    assert submit("softmax", source).audit == [v.Notice("object-search"), v.Notice("c-library")]
    assert submit("softmax", RIGHT).audit == []


def test_a_program_that_answers_nothing_is_our_fault(workers):
    with pytest.raises(CouldNotGrade):
        selftest.ask(workers, "def probe():\n    return 1\n", "probe", ())


def test_imports_are_nothing_to_look_at(submit):
    """torch imports some of itself when a tensor is printed; that is not the submission's doing."""
    body = "def softmax(x, dim=-1):\n    print(x)\n    return x\n"
    assert submit("softmax", body).audit == []
    body = "import marshal\n\n\ndef softmax(x, dim=-1):\n    return marshal.loads(b'N')\n"
    assert submit("softmax", body).audit == [v.Notice("byte-code-load")]
