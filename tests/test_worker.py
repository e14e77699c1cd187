"""A sandbox worker from outside: what it can reach, what ends it, and what its loss costs."""

from __future__ import annotations

import contextlib
import os
import sys
import time

import pytest
import torch

from attention_katas.errors import CouldNotGrade
from attention_katas.sandbox import wire
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.restrictions import environment
from attention_katas.sandbox.start import start_workers
from attention_katas.sandbox.worker import WorkerDied, WorkerTimedOut
from attention_katas.service.local import hidden_paths
from attention_katas.verdict import reasons

QUICK = Limits(load_seconds=1.0, call_seconds=1.0, memory_mb=512)
WAYS = [pytest.param(False, id="forked"), pytest.param(True, id="spawned")]
if sys.platform != "linux":
    WAYS = WAYS[1:]


@pytest.fixture(scope="module", params=WAYS)
def workers(request, catalog):
    with start_workers(hidden_paths(catalog), spawn=request.param, limits=QUICK) as found:
        yield found


def load(worker, source):
    request = {
        "do": "load",
        "module": "softmax",
        "sources": {"softmax": source},
        "functions": ["softmax"],
    }
    return worker.ask(request, seconds=QUICK.load_seconds)[0]


def call(worker, *args):
    tensors: wire.Tensors = {}
    request = {
        "do": "call",
        "id": 1,
        "function": "softmax",
        "device": "cpu",
        "args": wire.pack(list(args), tensors),
        "kwargs": wire.pack({}, {}),
    }
    return worker.ask(request, tensors, seconds=QUICK.call_seconds)


def answer(workers, source, key="k"):
    """What `softmax` returns, as text."""
    worker = workers.take(key, [])
    try:
        assert "raised" not in load(worker, source)
        reply, _ = call(worker, torch.ones(2))
        assert "raised" not in reply, reply
        return reply["repr"]
    finally:
        workers.give_back(worker)


def test_the_environment_is_empty(workers, monkeypatch):
    source = "import os\ndef softmax(x):\n    return dict(os.environ)"
    assert answer(workers, source) == str(environment.CONSTANT)


def test_nothing_of_ours_is_loaded(workers):
    source = (
        "import sys\ndef softmax(x):\n"
        "    return [n for n in sys.modules if 'attention_katas' in n"
        " or n == 'pytest' or n.startswith('_pytest')]"
    )
    assert answer(workers, source) == "[]"


def test_no_descriptor_but_its_own(workers):
    source = (
        "import os\ndef softmax(x):\n    found = []\n    for d in range(3, 1024):\n"
        "        try:\n            os.fstat(d)\n            found.append(d)\n"
        "        except OSError:\n            pass\n    return len(found) <= 3"
    )
    assert answer(workers, source) == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
@pytest.mark.parametrize(
    ("act", "place"),
    [
        ("open({!r})", "tests"),
        ("open({!r})", "reference"),
        ("open({!r})", "toml"),
        ("open({!r})", "/etc/passwd"),
        ("__import__('os').listdir({!r})", "katas"),
        ("__import__('os').listdir({!r})", "/"),
        ("open({!r}, 'w')", "/tmp/attention-katas-was-here"),
        ("__import__('os').mkdir({!r})", "/tmp/attention-katas-was-here"),
        ("__import__('os').remove({!r})", "toml"),
        ("__import__('subprocess').run([{!r}])", "/usr/bin/id"),
    ],
)
def test_files_cannot_be_read_or_written(workers, catalog, act, place):
    kata = catalog["softmax"]
    toml = kata.folder / "kata.toml"
    known = {
        "tests": kata.tests,
        "reference": kata.reference,
        "katas": catalog.packs[0].folder,
        "toml": toml,
    }
    worker = workers.take("k", [])
    if "read-only files" not in worker.restrictions:
        pytest.skip("this kernel has no Landlock")
    load(worker, f"def softmax(x):\n    return {act.format(str(known.get(place, place)))}")
    reply, _ = call(worker, torch.ones(2))
    workers.give_back(worker)
    assert reply["raised"]["type"] == "PermissionError"
    assert toml.exists()


def test_stdin_is_empty_and_prints_are_kept(workers):
    worker = workers.take("prints", [])
    load(
        worker,
        "import sys\ndef softmax(x):\n    print('out', sys.stdin.read())\n"
        "    print('err', file=sys.stderr)\n    return x",
    )
    call(worker, torch.ones(2))
    time.sleep(0.1)
    assert worker.printed() == "out \nerr\n"
    workers.give_back(worker)


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        "torch.ones(5000, 5000) @ torch.ones(5000, 5000)",
        "import signal; [signal.signal(s, signal.SIG_IGN) for s in (2, 15)];"
        " exec('while True: pass')",
    ],
)
def test_time_is_up(workers, body):
    worker = workers.take("slow" + body, [])
    load(worker, f"import torch\ndef softmax(x):\n    {body}")
    started = time.monotonic()
    with pytest.raises(WorkerTimedOut):
        call(worker, torch.ones(2))
    assert time.monotonic() - started < 10
    workers.give_back(worker)
    assert answer(workers, "def softmax(x):\n    return 'fine'", "next") == "'fine'"


def test_a_loop_at_import_is_stopped(workers):
    worker = workers.take("import loop", [])
    with pytest.raises(WorkerTimedOut):
        load(worker, "while True: pass")
    workers.give_back(worker)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS holds on Linux only")
def test_memory_runs_out_with_an_answer(workers):
    worker = workers.take("memory", [])
    load(worker, "import torch\ndef softmax(x):\n    return torch.zeros(1 << 29)")
    reply, _ = call(worker, torch.ones(2))
    assert reply["raised"]["memory"] is True
    workers.give_back(worker)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import os; os._exit(0)", reasons.ProcessExited(0)),
        ("import os; os.kill(os.getpid(), 9)", reasons.ProcessKilled("SIGKILL")),
        ("import ctypes; ctypes.string_at(0)", reasons.ProcessKilled("SIGSEGV")),
    ],
)
def test_how_a_worker_died_is_reported(workers, body, reason):
    if sys.platform == "win32":
        pytest.skip("signals are POSIX's")
    worker = workers.take("dies" + body, [])
    load(worker, f"def softmax(x):\n    {body}")
    with pytest.raises(WorkerDied) as death:
        call(worker, torch.ones(2))
    assert death.value.reason == reason
    workers.give_back(worker)
    assert answer(workers, "def softmax(x):\n    return 'fine'", "next") == "'fine'"


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way here")
def test_checks_share_nothing(catalog):
    with start_workers(hidden_paths(catalog), limits=QUICK) as workers:
        source = (
            "import torch\ndef softmax(x):\n    n = getattr(torch, 'seen', 0)\n"
            "    torch.seen = n + 1\n    return str(n)"
        )
        assert [answer(workers, source) for _ in range(3)] == ["'0'"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way here")
def test_a_lost_fork_server_is_our_fault_and_replaced(catalog):
    with start_workers(hidden_paths(catalog), limits=QUICK) as workers:
        assert answer(workers, "def softmax(x):\n    return 1") == "1"
        workers._process.kill()
        workers._process.wait()
        with pytest.raises(CouldNotGrade):
            take_some(workers)
        assert answer(workers, "def softmax(x):\n    return 1") == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way here")
def test_a_fork_server_that_is_lost_while_it_starts_is_replaced(catalog):
    with start_workers(hidden_paths(catalog), limits=QUICK) as workers:
        workers._process.kill()
        with pytest.raises(CouldNotGrade, match="did not start"):
            workers.take("k", [])
        worker = workers.take("k", [])
        assert worker.pid
        workers.give_back(worker)


def take_some(workers) -> None:
    """More than were made ahead."""
    for _ in range(4):
        workers.give_back(workers.take("k", []))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("spawn", [False, True])
def test_no_process_is_left(catalog, spawn):
    before = set(children(os.getpid()))
    with start_workers(hidden_paths(catalog), limits=QUICK, spawn=spawn) as workers:
        answer(workers, "def softmax(x):\n    return 1")
        during = set(children(os.getpid())) - before
        assert during
    for _ in range(100):
        if not [pid for pid in during if os.path.exists(f"/proc/{pid}")]:
            break
        time.sleep(0.05)
    assert not [pid for pid in during if os.path.exists(f"/proc/{pid}")]


def children(pid: int) -> list[int]:
    """Every descendant of a process."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            # A thread may end meanwhile; the others still have children.
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(text) for text in file.read().split()]
    return found + [below for child in found for below in children(child)]


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_no_descriptor_is_leaked(catalog):
    with start_workers(hidden_paths(catalog), limits=QUICK) as workers:
        for _ in range(3):
            answer(workers, "def softmax(x):\n    return 1")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            answer(workers, "def softmax(x):\n    return 1")
        assert len(os.listdir("/proc/self/fd")) <= before + 1
