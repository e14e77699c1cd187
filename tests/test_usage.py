"""Whose fault is silence: the code's, or the machine's?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from attention_katas.sandbox import usage
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.restrictions.linux import children_of
from attention_katas.sandbox.usage import Usage, UsageMonitor
from attention_katas.service.local import open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.conftest import submission_of
from tests.test_cli import RIGHT

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
QUICK = Limits(load_seconds=1.0, call_seconds=1.0)
FOR_EVER = "def softmax(x, dim=-1):\n    while True:\n        pass\n"
SLEEPS = "import time\ndef softmax(x, dim=-1):\n    time.sleep(99)\n"
# Threads that keep each other waiting, to look like a machine that is too busy.
CROWD = """
import threading, time
def spin():
    while True:
        pass
def softmax(x, dim=-1):
    for _ in range(30):
        threading.Thread(target=spin, daemon=True).start()
    time.sleep(99)
"""


def watched(monkeypatch, seconds, looks, limit=10.0):
    """A watch that has seen the given usages, `seconds` after the question."""
    given = iter([Usage(0.0, {"1": 0.0}), *looks])
    monkeypatch.setattr(usage, "usage", lambda pid: next(given))
    found = UsageMonitor(1, limit)
    found.started = time.monotonic() - seconds
    for _ in looks:
        found.look()
    return found


def test_sleeping_is_no_waiting(monkeypatch):
    found = watched(monkeypatch, 11, [Usage(0.0, {"1": 0.1})])
    assert found.out_of_time


def test_waiting_for_a_processor_is_not_held_against_the_code(monkeypatch):
    found = watched(monkeypatch, 30, [Usage(3.0, {"1": 26.0})])
    assert not found.out_of_time
    assert not found.starved
    assert watched(monkeypatch, 61, [Usage(3.0, {"1": 56.0})]).starved


def test_threads_that_keep_each_other_waiting_pay_with_processor_time(monkeypatch):
    crowd = {str(n): 9.0 for n in range(30)}
    assert watched(monkeypatch, 10.5, [Usage(20.0, crowd)]).out_of_time


def test_a_thread_that_ended_does_not_take_its_waiting_with_it(monkeypatch):
    looks = [Usage(1.0, {"1": 0.0, "2": 9.0}), Usage(1.0, {"1": 0.0})]
    assert not watched(monkeypatch, 12, looks).out_of_time


def test_a_process_that_has_ended_is_not_out_of_time(monkeypatch):
    found = watched(monkeypatch, 11, [Usage(0.0, {"1": 0.0}, ended=True)])
    assert not found.out_of_time
    assert not found.starved


def test_where_nothing_can_be_seen_all_time_counts_but_thrice(monkeypatch):
    monkeypatch.setattr(usage, "usage", lambda pid: None)
    found = UsageMonitor(1, 1.0)
    found.started = time.monotonic() - 2
    assert not found.out_of_time
    found.started = time.monotonic() - 3.1
    assert found.out_of_time


@pytest.fixture(scope="module")
def interactive(catalog):
    with open_judge(catalog, [catalog["softmax"]], limits=QUICK) as judge:
        yield judge


@linux
def test_a_starved_machine_is_our_fault(interactive, catalog, monkeypatch):
    """As seen from outside: hardly any processor time, and all the rest spent waiting for it."""
    start = time.monotonic()

    def starved(pid):
        wall = time.monotonic() - start
        return Usage(0.01 * wall, {"1": 0.98 * wall})

    monkeypatch.setattr(usage, "usage", starved)
    verdict = interactive.judge(submission_of(catalog, "softmax", SLEEPS))
    assert verdict.outcome == v.COULD_NOT_GRADE
    assert "too busy to judge" in words.verdict(verdict)


@linux
@pytest.mark.parametrize("source", [SLEEPS, FOR_EVER, CROWD], ids=["sleeps", "spins", "crowd"])
def test_nothing_that_code_does_looks_like_a_busy_machine(
    interactive, catalog, source, monkeypatch
):
    monkeypatch.setattr(usage, "PATIENCE", 600.0)  # this machine may really be busy
    assert interactive.judge(submission_of(catalog, "softmax", source)).outcome == v.TIMED_OUT


@linux
def test_right_code_passes_while_other_work_takes_the_processors(interactive, catalog):
    """A quarter second of work, with six busy processes on all cores and a limit of one second."""
    work = (
        "import time\nend = time.thread_time() + 0.25\nwhile time.thread_time() < end:\n    pass\n"
    )
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        verdict = interactive.judge(submission_of(catalog, "softmax", work + RIGHT), 1)
        assert verdict.outcome == v.PASSED, words.verdict(verdict)
    finally:
        for process in busy:
            process.kill()
            process.wait()


@linux
def test_memory_that_limits_do_not_see_is_seen(interactive, catalog, monkeypatch):
    real = usage.usage
    grown = iter(range(1, 10_000))

    def growing(pid):
        found = real(pid)
        return found and Usage(found.seconds, found.waits, found.rss + next(grown) * (200 << 20))

    monkeypatch.setattr(usage, "usage", growing)
    verdict = interactive.judge(submission_of(catalog, "softmax", SLEEPS))
    assert verdict.outcome == v.OUT_OF_MEMORY


@linux
def test_a_learner_killed_from_outside_is_asked_again(catalog):
    """Once it may be another's doing; code that kills itself does so again."""
    lasts = "import time\ntime.sleep(0.25)\n" + RIGHT
    with open_judge(catalog, [catalog["softmax"]]) as judge:
        assert judge.judge(submission_of(catalog, "softmax", RIGHT)).outcome == v.PASSED
        template = children_of(children_of(os.getpid())[-1])[0]
        for find in (lambda: min(children_of(template)), lambda: template):
            killer = threading.Timer(0.1, lambda find=find: os.kill(find(), signal.SIGKILL))
            killer.start()
            verdict = judge.judge(submission_of(catalog, "softmax", lasts))
            killer.join()
            assert verdict.outcome == v.PASSED, words.verdict(verdict)
        suicide = "import os\ndef softmax(x, dim=-1):\n    os.kill(os.getpid(), 9)\n"
        verdict = judge.judge(submission_of(catalog, "softmax", suicide))
        assert verdict.outcome == v.CRASHED
        assert "SIGKILL" in words.verdict(verdict)
