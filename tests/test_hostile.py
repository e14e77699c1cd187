"""Files that mean harm, in tests/hostile/: each gets its outcome and leaves nothing behind."""

from __future__ import annotations

import sys

import pytest

from attention_katas.sandbox import restrictions
from attention_katas.service.local import open_judge
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from tests.conftest import submission_of
from tests.hostility import FILES, LIMITS, judged, left_behind, traces, wanted


class Guarded:
    """A judge of hostile files, which has to judge honest code rightly after them."""

    EVERY = 8  # files, after which honest code is judged

    def __init__(self, judge, honest):
        self.judge, self.honest = judge, honest
        self.since: list[str] = []

    def judged(self, catalog, path):
        """The verdict on a hostile file."""
        self.since.append(path.stem)
        return judged(self.judge, catalog, path)

    def check(self):
        """Judge honest code: none of the files since the last time may have harmed the judge."""
        names, self.since = self.since, []
        after = self.judge.judge(self.honest)
        assert after.outcome == v.PASSED, f"after {names}: {words.verdict(after)}"
        assert after.seconds < 30, f"after {names}"


@pytest.fixture(scope="module")
def guarded(catalog):
    if sys.platform != "linux":
        pytest.skip("strangers' code is judged on Linux only")
    with open_judge(catalog, catalog.ready, limits=LIMITS) as judge:
        right = catalog["dot-product"].reference.read_text(encoding="utf-8")
        honest = submission_of(catalog, "dot-product", right)
        for name in ("softmax", "dot-product"):  # a template for each set of bans, once
            right = catalog[name].reference.read_text(encoding="utf-8")
            assert judge.judge(submission_of(catalog, name, right)).outcome == v.PASSED
        yield Guarded(judge, honest)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_gets_its_outcome_and_leaves_nothing(guarded, catalog, path):
    want, before = wanted(path), traces()
    verdict = guarded.judged(catalog, path)
    lacking = [name for name in want.needs if name in restrictions.missing(verdict.restrictions)]
    if verdict.restrictions and lacking:
        pytest.skip(f"this system has no lock {lacking}")
    told = f"{verdict.outcome}: {words.verdict(verdict)}"
    assert verdict.outcome in want.outcomes, told
    assert want.says in words.verdict(verdict)
    assert not any(left_behind(before).values()), left_behind(before)
    if len(guarded.since) >= Guarded.EVERY:
        guarded.check()


def test_honest_code_passes_after_the_last_ones(guarded):
    guarded.check()


def test_there_are_enough_of_them():
    assert len(FILES) >= 100
