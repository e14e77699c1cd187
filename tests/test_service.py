"""Many submissions side by side, and what processes say to each other about them."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace

import msgspec
import pytest

from attention_katas.service import Cancelled, Settings, Task, many, messages, rpc
from attention_katas.service.pool import Pool
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons
from tests.conftest import submission_of


class Fake:
    """Workers that answer at once. asked: keys of the tasks, in the order of their requests."""

    def __init__(self, answer, count=1):
        self.answer, self.asked = answer, []
        self.workers = many.Workers(self.submit, lambda: count, Future.result)

    def submit(self, request):
        self.asked.append(rpc.split(request)[0].absent["key"].file)
        future = Future()
        try:
            future.set_result(self.answer(self.asked[-1], len(self.asked)))
        except RuntimeError as error:
            future.set_exception(error)
        return future


def some_tasks(catalog, count):
    source = "def softmax(x, dim=-1):\n    return x\n"
    one = submission_of(catalog, "softmax", source)
    return [
        Task(f"k{n}", replace(one, absent={"key": reasons.FileMissing(f"k{n}")}), 1)
        for n in range(count)
    ]


def good(asked, _):
    return messages.Judged(), rpc.encode_verdict(v.Verdict("softmax", v.PASSED))


LOST = messages.Refused(messages.LOST, detail="gone"), b""


def test_each_key_is_judged_once(catalog):
    fake = Fake(good, 2)
    tasks = some_tasks(catalog, 3) + some_tasks(catalog, 5)
    pairs = list(many.judge_all(fake.workers, tasks))
    assert sorted(task.key for task, _ in pairs) == ["k0", "k1", "k2", "k3", "k4"]
    assert len(fake.asked) == 5
    assert {verdict.outcome for _, verdict in pairs} == {v.PASSED}


def test_a_lost_task_is_tried_again_at_the_end_and_alone(catalog):
    fake = Fake(lambda key, n: LOST if key == "k0" and n == 1 else good(key, n))
    pairs = list(many.judge_all(fake.workers, some_tasks(catalog, 4)))
    assert fake.asked[0] == fake.asked[-1] == "k0"
    assert [task.key for task, _ in pairs][-1] == "k0"
    assert {verdict.outcome for _, verdict in pairs} == {v.PASSED}


def test_what_is_lost_again_could_not_be_graded_and_the_rest_is(catalog):
    fake = Fake(lambda key, n: LOST if key == "k1" else good(key, n))
    outcomes = {
        task.key: verdict.outcome
        for task, verdict in many.judge_all(fake.workers, some_tasks(catalog, 3))
    }
    assert outcomes == {"k0": v.PASSED, "k1": v.COULD_NOT_GRADE, "k2": v.PASSED}


def test_a_fault_of_the_workers_is_raised(catalog):
    def broken(key, n):
        raise RuntimeError("scheduler gone")

    with pytest.raises(RuntimeError):
        list(many.judge_all(Fake(broken).workers, some_tasks(catalog, 1)))


def test_little_waits_in_memory(catalog):
    """Submissions are read as workers get to them, not all at once."""
    reached = 0

    def source():
        nonlocal reached
        for task in some_tasks(catalog, 100):
            reached += 1
            yield task

    pairs = many.judge_all(Fake(good, 2).workers, source())
    next(pairs)
    assert reached <= 2 * many.AHEAD


def test_a_pool_judges_one_submission_and_can_be_cancelled(catalog):
    right = submission_of(catalog, "softmax", catalog["softmax"].reference.read_text())
    hangs = submission_of(catalog, "softmax", "while True:\n    pass\n")
    pool = Pool(Settings(weak=True))
    try:
        verdict = pool.judge(right, 3)
        assert (verdict.outcome, verdict.seed, verdict.file) == (v.PASSED, 3, right.file)
        canceller = threading.Timer(1.0, pool.cancel)
        canceller.start()
        with pytest.raises(Cancelled):
            pool.judge(hangs)
        canceller.join()
        assert pool.judge(right).outcome == v.PASSED
    finally:
        pool.close()


def test_other_content_and_other_versions_are_refused_by_a_code(catalog):
    submission = submission_of(catalog, "softmax", "def softmax(x, dim=-1):\n    return x\n")
    request = messages.request_of(submission, 1)
    assert messages.submission_of(request, catalog) == replace(submission, file="softmax.py")
    for changed, code in [
        ({"digest": "0"}, messages.OTHER_CONTENT),
        ({"versions": {"torch": "9.9"}}, messages.OTHER_VERSION),
        ({"kata": "nonsense"}, messages.UNKNOWN_KATA),
    ]:
        other = msgspec.structs.replace(request, **changed)
        assert messages.submission_of(other, catalog).code == code


def test_lone_surrogates_travel(catalog):
    """Of a notebook's JSON escapes, or of a file name that is not UTF-8."""
    source = "def softmax(x, dim=-1):\n    return '\ud800'\n"
    submission = replace(
        submission_of(catalog, "softmax", source),
        file="\udcff.py",
        absent={"mask": reasons.FileMissing("\udcff")},
    )
    sent, _ = rpc.split(rpc.encode(messages.request_of(submission, 1)))
    received = messages.submission_of(sent, catalog)
    assert received == replace(submission, file="softmax.py")
