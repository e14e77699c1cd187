"""The learner process from outside: what it can reach, what ends it, and what it costs to lose."""

from __future__ import annotations

import contextlib
import os
import sys
import time

import pytest
import torch

from attention_katas.errors import CouldNotGrade
from attention_katas.learner import wire
from attention_katas.learner.host import LearnerDied, LearnerTimedOut
from attention_katas.learner.limits import Limits
from attention_katas.learner.locks import environment
from attention_katas.learner.start import start_learners
from attention_katas.running import hidden_paths

QUICK = Limits(load_seconds=1.0, call_seconds=1.0, memory_mb=512)
WAYS = [pytest.param(False, id="forked"), pytest.param(True, id="spawned")]
if sys.platform != "linux":
    WAYS = WAYS[1:]


@pytest.fixture(scope="module", params=WAYS)
def learners(request, catalog):
    with start_learners(hidden_paths(catalog), spawn=request.param, limits=QUICK) as found:
        yield found


def load(learner, source):
    request = {
        "do": "load",
        "module": "softmax",
        "sources": {"softmax": source},
        "functions": ["softmax"],
    }
    return learner.ask(request, seconds=QUICK.load_seconds)[0]


def call(learner, *args):
    tensors: wire.Tensors = {}
    request = {
        "do": "call",
        "id": 1,
        "function": "softmax",
        "device": "cpu",
        "args": wire.pack(list(args), tensors),
        "kwargs": wire.pack({}, {}),
    }
    return learner.ask(request, tensors, seconds=QUICK.call_seconds)


def answer(learners, source, key="k"):
    """What `softmax` returns, as text."""
    learner = learners.take(key, [])
    try:
        assert "raised" not in load(learner, source)
        reply, _ = call(learner, torch.ones(2))
        assert "raised" not in reply, reply
        return reply["repr"]
    finally:
        learners.give_back(learner)


def test_the_environment_is_empty(learners, monkeypatch):
    source = "import os\ndef softmax(x):\n    return dict(os.environ)"
    assert answer(learners, source) == str(environment.CONSTANT)


def test_nothing_of_ours_is_loaded(learners):
    source = (
        "import sys\ndef softmax(x):\n"
        "    return [n for n in sys.modules if 'attention_katas' in n"
        " or n == 'pytest' or n.startswith('_pytest')]"
    )
    assert answer(learners, source) == "[]"


def test_no_descriptor_but_its_own(learners):
    source = (
        "import os\ndef softmax(x):\n    found = []\n    for d in range(3, 1024):\n"
        "        try:\n            os.fstat(d)\n            found.append(d)\n"
        "        except OSError:\n            pass\n    return len(found) <= 3"
    )
    assert answer(learners, source) == "True"


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
def test_files_cannot_be_read_or_written(learners, catalog, act, place):
    kata = catalog["softmax"]
    toml = kata.folder / "kata.toml"
    known = {
        "tests": kata.tests,
        "reference": kata.reference,
        "katas": catalog.folder,
        "toml": toml,
    }
    learner = learners.take("k", [])
    if "read-only files" not in learner.locks:
        pytest.skip("this kernel has no Landlock")
    load(learner, f"def softmax(x):\n    return {act.format(str(known.get(place, place)))}")
    reply, _ = call(learner, torch.ones(2))
    learners.give_back(learner)
    assert reply["raised"]["type"] == "PermissionError"
    assert toml.exists()


def test_stdin_is_empty_and_prints_are_kept(learners):
    learner = learners.take("prints", [])
    load(
        learner,
        "import sys\ndef softmax(x):\n    print('out', sys.stdin.read())\n"
        "    print('err', file=sys.stderr)\n    return x",
    )
    call(learner, torch.ones(2))
    time.sleep(0.1)
    assert learner.printed() == "out \nerr\n"
    learners.give_back(learner)


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
def test_time_is_up(learners, body):
    learner = learners.take("slow" + body, [])
    load(learner, f"import torch\ndef softmax(x):\n    {body}")
    started = time.monotonic()
    with pytest.raises(LearnerTimedOut):
        call(learner, torch.ones(2))
    assert time.monotonic() - started < 10
    learners.give_back(learner)
    assert answer(learners, "def softmax(x):\n    return 'fine'", "next") == "'fine'"


def test_a_loop_at_import_is_stopped(learners):
    learner = learners.take("import loop", [])
    with pytest.raises(LearnerTimedOut):
        load(learner, "while True: pass")
    learners.give_back(learner)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS holds on Linux only")
def test_memory_runs_out_with_an_answer(learners):
    learner = learners.take("memory", [])
    load(learner, "import torch\ndef softmax(x):\n    return torch.zeros(1 << 29)")
    reply, _ = call(learner, torch.ones(2))
    assert reply["raised"]["memory"] is True
    learners.give_back(learner)


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("import os; os._exit(0)", "exited by itself with status 0"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ],
)
def test_how_it_died_is_told(learners, body, how):
    if sys.platform == "win32":
        pytest.skip("signals are POSIX's")
    learner = learners.take("dies" + body, [])
    load(learner, f"def softmax(x):\n    {body}")
    with pytest.raises(LearnerDied, match=how):
        call(learner, torch.ones(2))
    learners.give_back(learner)
    assert answer(learners, "def softmax(x):\n    return 'fine'", "next") == "'fine'"


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way here")
def test_checks_share_nothing(catalog):
    with start_learners(hidden_paths(catalog), limits=QUICK) as learners:
        source = (
            "import torch\ndef softmax(x):\n    n = getattr(torch, 'seen', 0)\n"
            "    torch.seen = n + 1\n    return str(n)"
        )
        assert [answer(learners, source) for _ in range(3)] == ["'0'"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="forking is Linux's way here")
def test_a_lost_zygote_is_our_fault_and_replaced(catalog):
    with start_learners(hidden_paths(catalog), limits=QUICK) as learners:
        assert answer(learners, "def softmax(x):\n    return 1") == "1"
        learners._process.kill()
        learners._process.wait()
        with pytest.raises(CouldNotGrade):
            take_some(learners)
        assert answer(learners, "def softmax(x):\n    return 1") == "1"


def take_some(learners) -> None:
    """More than were made ahead."""
    for _ in range(4):
        learners.give_back(learners.take("k", []))


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("spawn", [False, True])
def test_no_process_is_left(catalog, spawn):
    before = set(children(os.getpid()))
    with start_learners(hidden_paths(catalog), limits=QUICK, spawn=spawn) as learners:
        answer(learners, "def softmax(x):\n    return 1")
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
    with start_learners(hidden_paths(catalog), limits=QUICK) as learners:
        for _ in range(3):
            answer(learners, "def softmax(x):\n    return 1")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            answer(learners, "def softmax(x):\n    return 1")
        assert len(os.listdir("/proc/self/fd")) <= before + 1
