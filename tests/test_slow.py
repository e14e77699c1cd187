"""Code that takes for ever, judged with short limits; and `kata` killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from attention_katas.sandbox.limits import Limits
from attention_katas.service.local import open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.conftest import submission_of
from tests.test_cli import RIGHT, kata, space
from tests.test_worker import children

__all__ = ["space"]


@pytest.fixture(scope="module", params=[False, True], ids=["forked", "spawned"])
def interactive(catalog, request):
    if sys.platform != "linux" and not request.param:
        pytest.skip("forking is Linux's way here")
    limits = Limits(load_seconds=1.0, call_seconds=1.0)
    katas = [catalog["softmax"]]
    with open_judge(catalog, katas, "cpu", spawn=request.param, limits=limits) as judge:
        yield judge


@pytest.mark.parametrize(
    "source",
    [
        "while True:\n    pass\n",
        "def softmax(x, dim=-1):\n    while True:\n        pass\n",
        "import time\ndef softmax(x, dim=-1):\n    time.sleep(99)\n",
        "import torch\ndef softmax(x, dim=-1):\n    a = torch.ones(3000, 3000)\n"
        "    for _ in range(10**6):\n        a = a @ a / 3000\n",
        "import threading\ndef softmax(x, dim=-1):\n    threading.Event().wait()\n",
        "import signal\ndef softmax(x, dim=-1):\n    signal.signal(15, signal.SIG_IGN)\n"
        "    while True:\n        pass\n",
        "class X(Exception):\n    def __str__(self):\n        while True:\n            pass\n"
        "def softmax(x, dim=-1):\n    raise X\n",
    ],
    ids=["import", "loop", "sleep", "C", "deadlock", "signals", "str"],
)
def test_what_takes_for_ever_is_timed_out(interactive, catalog, source):
    verdict = interactive.judge(submission_of(catalog, "softmax", source))
    assert verdict.outcome == v.TIMED_OUT
    assert "stopped after 1 s" in words.verdict(verdict)
    timed_out = [check for check in verdict.checks if check.outcome == v.TIMED_OUT]
    assert len(timed_out) <= 1  # the function is not asked again
    after = interactive.judge(submission_of(catalog, "softmax", RIGHT))
    assert after.outcome == v.PASSED, words.verdict(after)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_killed_at_any_moment(space):
    """Nothing that was reported is lost, nothing is left running, and the next run works."""
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    chance, reported = random.Random(5), 0
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-m", "attention_katas", "run", "softmax"],
            cwd=space,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.1, 4.0))
        family = children(process.pid)
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate()
        reported += b"passed" in said
        assert gone(family), "a process outlived the one that was killed"
    after = kata("run", "softmax", cwd=space)
    assert after.returncode == 0, after.stderr
    told = kata("progress", cwd=space).stdout
    recorded = int(told.split("softmax: ")[1].split()[0])
    assert recorded >= reported + 1


@pytest.mark.parametrize("runs", [2, 8])
def test_several_runs_at_once_on_one_workspace(space, runs):
    """Each says what it found, and each attempt is kept."""
    (space / "softmax.py").write_text(RIGHT, encoding="utf-8")
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "attention_katas", "run", "softmax"],
            cwd=space,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(runs)
    ]
    said = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0] * runs, said
    assert all(b"passed" in out and not err for out, err in said)
    assert f"softmax: {runs} attempts" in kata("progress", cwd=space).stdout


def gone(pids: list[int]) -> bool:
    """Whether all have ended within five seconds (a zombie has)."""
    for _ in range(100):
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX signal")
def test_ctrl_c_ends_quietly_and_leaves_nothing(space):
    (space / "softmax.py").write_text(
        "def softmax(x, dim=-1):\n    while True:\n        pass\n", encoding="utf-8"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "attention_katas", "run", "softmax"],
        cwd=space,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    for _ in range(240):  # until it judges: the fork server, its template and a worker are there
        time.sleep(0.25)
        if len(children(process.pid)) >= 3:
            break
    time.sleep(3)
    family = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.strip() == b"kata: stopped"
    assert gone(family)
