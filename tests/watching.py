"""For the tests of `kata watch`: a bench that says what the test wants, and a workspace."""

from __future__ import annotations

import threading
import time

from attention_katas.packs.precheck import blank
from attention_katas.packs.progress import Progress
from attention_katas.packs.workspace import create
from attention_katas.service import Cancelled
from attention_katas.verdict import data as v
from attention_katas.watch.saves import CHANGED, Save
from attention_katas.watch.session import Session

TITLES = ("Sums to one", "Stays finite", "Keeps its dtype")


class FakeBench:
    """Passes what has "right" in its source; of "half" the first check. "slow" waits for `go_on`.

    judged: the sources that got a verdict, in order; asked: all that were asked for.
    """

    def __init__(self):
        self.judged, self.asked, self.expected, self.closed = [], [], [], False
        self.go_on = threading.Event()
        self.under_way = threading.Event()
        self._called_off = threading.Event()

    def judge(self, submission, seed=None):
        self._called_off.clear()
        self.asked.append(submission.source)
        if "slow" in submission.source:
            self.under_way.set()
            while not self.go_on.wait(0.01):
                if self._called_off.is_set():
                    raise Cancelled
        if "fault" in submission.source:
            raise OSError("the bench is gone")
        self.judged.append(submission.source)
        outcomes = [v.FAILED] * 3
        if "half" in submission.source:
            outcomes[0] = v.PASSED
        if "right" in submission.source:
            outcomes = [v.PASSED] * 3
        verdict = blank(submission.kata, v.FAILED, submission.file)
        verdict.checks = [v.Check(t, t, o) for t, o in zip(TITLES, outcomes, strict=True)]
        if v.FAILED not in outcomes:
            verdict.outcome = v.PASSED
        verdict.source_hash = submission.digest
        return verdict

    def cancel(self):
        self._called_off.set()

    def expect(self, kata):
        self.expected.append(kata.name)

    def close(self):
        self.closed = True


class Watched:
    """A workspace, a fake bench and a session; `write` saves a file and tells the session."""

    def __init__(self, root, catalog, name=None):
        self.space, _, _ = create(root, catalog)
        self.catalog, self.bench, self.news = catalog, FakeBench(), []
        self.progress = Progress(self.space.progress_file)
        self.session = Session(catalog, self.space, self.progress, self.bench, name, self._hear)
        self._changed = threading.Condition()

    def _hear(self, news):
        with self._changed:
            self.news.append(news)
            self._changed.notify_all()

    def put(self, name, text):
        self.space.path(self.catalog[name]).write_text(text, encoding="utf-8")

    def write(self, name, text, what=CHANGED):
        self.put(name, text)
        self.tell(name, what)

    def tell(self, name, what):
        self.session.saved(Save({self.catalog[name].file: what}, time.time(), time.perf_counter()))

    def until(self, condition, seconds=10.0):
        """Wait for it; whoever calls `tell` of the session afterwards does not disturb."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, (self.news, self.bench.asked, self.session.notice)
            time.sleep(0.005)

    def idle(self):
        self.until(lambda: not (self.session.judging or self.session.in_round))

    def judged(self, text):
        """Wait until the verdict on that content is shown, and recorded."""
        self.until(lambda: self.bench.judged[-1:] == [text] and not self.session.judging)
        kata = self.session.kata
        self.until(lambda: self.progress.attempts(kata.name) and self.session.verdict is not None)
