"""What `kata watch` does about a save, whatever shows it."""

from __future__ import annotations

import copy
import os
import random
import threading
import time
from dataclasses import replace

import pytest

from attention_katas.errors import KataError, NoSuchKata, ProgressUnavailable
from attention_katas.packs.progress import DONE
from attention_katas.service import Cancelled
from attention_katas.verdict import data as v
from attention_katas.verdict import words
from attention_katas.watch import session as s
from attention_katas.watch.editor import editor
from attention_katas.watch.saves import GONE, TOUCHED, Saves
from attention_katas.watch.session import compare
from attention_katas.watch.view import count_changes, next_step
from tests.watching import Watched

WRONG, HALF, RIGHT = (f"def softmax(x, dim=-1):\n    return '{w}'\n" for w in ("", "half", "right"))
SLOW = RIGHT.replace("right", "slow half")


@pytest.fixture
def open_session(tmp_path, catalog):
    """`open_session(name, **sources)`: a session that has begun."""
    opened = []

    def start(name=None, **sources):
        found = Watched(tmp_path / "work", catalog, name)
        opened.append(found)
        for other, text in sources.items():
            found.put(other, text)
        found.session.start()
        if not any("slow" in text for text in sources.values()):
            found.until(lambda: found.session.verdict is not None)
            found.idle()
        return found

    yield start
    for one in opened:
        one.bench.go_on.set()
        one.session.close()
        assert one.bench.closed
        assert not one.session._follow.is_alive()


def test_it_begins_with_the_next_kata_that_is_pending(open_session, catalog, tmp_path):
    found = open_session()
    assert found.session.kata.name == "dot-product"
    assert found.session.verdict.outcome == v.NOT_STARTED
    assert found.bench.asked == []
    assert found.progress.attempts("dot-product") == 0
    found.until(lambda: found.bench.expected == ["dot-product"])
    assert found.session.warm


def test_it_begins_with_the_kata_that_is_named(open_session, catalog, tmp_path):
    assert open_session("softmax", softmax=WRONG).session.verdict.outcome == v.FAILED
    with pytest.raises(NoSuchKata):
        Watched(tmp_path / "other", catalog, "nothing-like-it")
    partly = copy.copy(catalog)
    partly.katas = [replace(k, status="planned") for k in catalog.katas if k.name == "dot-product"]
    with pytest.raises(KataError, match="none of these katas can be judged"):
        Watched(tmp_path / "third", partly)
    partly.katas += [catalog["scale"]]
    with pytest.raises(KataError, match="planned"):
        Watched(tmp_path / "third", partly, "dot-product")


def test_saves_are_judged_and_recorded_and_compared(open_session):
    found = open_session("softmax")
    found.write("softmax", WRONG)
    found.judged(WRONG)
    assert found.session.changes is None  # nothing to compare with
    assert found.session.milliseconds > 0
    found.write("softmax", HALF)
    found.judged(HALF)
    assert [(c.number, c.passes) for c in found.session.changes] == [(1, True)]
    found.write("softmax", RIGHT)
    found.judged(RIGHT)
    assert [c.number for c in found.session.changes] == [2, 3]
    found.until(lambda: found.session.states["softmax"].name == DONE)
    found.write("softmax", WRONG)
    found.judged(WRONG)
    assert [c.passes for c in found.session.changes] == [False] * 3
    assert count_changes(found.session.changes) == "3 fail again"
    found.until(lambda: found.progress.attempts("softmax") == 4)
    assert found.progress.first_pass("softmax")[1] == RIGHT


def test_a_save_during_a_run_calls_it_off(open_session):
    found = open_session("softmax", softmax=SLOW)
    assert found.bench.under_way.wait(10)
    found.write("softmax", RIGHT)
    found.judged(RIGHT)
    assert found.bench.judged == [RIGHT]  # the old content got no verdict
    assert found.session.passed
    found.until(lambda: found.progress.attempts("softmax") == 1)


def test_the_old_verdict_stays_until_there_is_a_new_one(open_session):
    found = open_session("softmax", softmax=HALF)
    found.write("softmax", SLOW)
    assert found.bench.under_way.wait(10)
    assert found.session.judging
    assert found.session.verdict.passed == 1
    found.bench.go_on.set()
    found.idle()
    assert found.session.changes == []


def test_many_saves_end_with_the_newest(open_session):
    found = open_session("softmax", softmax=WRONG)
    for number in range(100):
        found.write("softmax", f"{SLOW}# {number}\n" if number % 3 else f"{HALF}# {number}\n")
    found.write("softmax", RIGHT)
    found.judged(RIGHT)
    assert found.session.passed


def test_a_late_cancel_does_not_lose_the_newest(open_session):
    """The bench is told to stop a run that has just ended: it stops the next one instead."""
    found, judge, late = open_session("softmax"), None, iter([True, True])
    judge = found.bench.judge

    def called_off(submission, seed=None):
        if next(late, False):
            raise Cancelled
        return judge(submission, seed)

    found.bench.judge = called_off
    found.write("softmax", RIGHT)
    found.judged(RIGHT)


def test_a_save_without_a_change_is_seen_and_not_judged(open_session):
    found = open_session("softmax", softmax=HALF)
    found.tell("softmax", TOUCHED)
    assert [news.kind for news in found.news][-1] == s.SAME
    assert found.session.same_at == found.session.saved_at
    assert found.bench.asked == [HALF]
    found.write("softmax", WRONG)
    found.judged(WRONG)
    assert found.session.same_at is None


def test_what_could_not_be_graded_is_shown_and_tried_again(open_session):
    found = open_session("softmax", softmax=HALF + "# fault\n")
    assert found.session.verdict.outcome == v.COULD_NOT_GRADE
    assert "the bench is gone" in words.verdict(found.session.verdict)
    found.put("softmax", HALF)
    found.tell("softmax", TOUCHED)
    found.judged(HALF)


def test_a_file_that_the_kata_imports_judges_it_again(open_session):
    text = "from softmax import softmax\ndef causal_mask(n):\n    return 'half'\n"
    found = open_session("mask", mask=text, softmax=WRONG)
    found.write("softmax", RIGHT)
    found.until(lambda: len(found.bench.judged) == 2)
    assert found.session.kata.name == "mask"
    assert found.bench.judged[-1] == text


def test_a_save_of_another_kata_goes_there(open_session):
    found = open_session("scale")
    found.write("softmax", HALF)
    found.judged(HALF)
    assert found.session.kata.name == "softmax"
    assert found.session.notice == "you saved softmax.py, so this is softmax now"


def test_not_for_a_stub_a_touch_or_a_deletion(open_session, catalog):
    found = open_session("scale", softmax=HALF)
    stub = catalog["softmax"].stub.read_text(encoding="utf-8")
    found.tell("softmax", TOUCHED)
    found.write("softmax", stub)
    found.space.path(catalog["softmax"]).unlink()
    found.tell("softmax", GONE)
    found.idle()
    assert found.session.kata.name == "scale"
    assert found.bench.asked == []


def test_deleted_and_written_again(open_session, catalog):
    found = open_session("softmax", softmax=HALF)
    found.space.path(catalog["softmax"]).unlink()
    found.tell("softmax", GONE)
    found.until(lambda: found.session.verdict.outcome == v.NOT_STARTED)
    assert "is not there" in words.verdict(found.session.verdict)
    assert s.RESET in found.session.available()
    found.write("softmax", RIGHT)
    found.judged(RIGHT)


def test_after_a_pass_it_stays_and_offers_the_next(open_session):
    found = open_session("softmax", softmax=RIGHT)
    assert found.session.kata.name == "softmax"
    assert next_step(found.session, found.session.verdict).startswith("n for mask: ")
    found.session.go_next()
    found.idle()
    assert found.session.kata.name == "mask"
    asked = len(found.bench.asked)
    found.session.go_back()
    assert found.session.passed
    assert len(found.bench.asked) == asked  # that verdict still holds
    found.session.go_next()
    found.write("softmax", HALF)
    found.judged(HALF)


def test_a_verdict_that_does_not_hold_any_more_is_made_again(open_session, catalog):
    text = "from softmax import softmax\ndef causal_mask(n):\n    return 'half'\n"
    found = open_session("mask", mask=text, softmax=WRONG)
    found.session.go(catalog["softmax"])
    found.idle()
    found.write("softmax", RIGHT)
    found.judged(RIGHT)
    found.session.go(catalog["mask"])
    found.judged(text)


def test_leaving_while_it_is_judged_calls_it_off(open_session, catalog):
    found = open_session("scale")
    found.write("softmax", SLOW)
    assert found.bench.under_way.wait(10)
    found.session.go(catalog["scale"])
    found.idle()
    assert found.bench.judged == []
    found.bench.go_on.set()
    found.session.go(catalog["softmax"])
    found.judged(SLOW)


def test_hints_go_on_where_kata_hint_stopped(open_session):
    found = open_session("softmax")
    found.progress.set_hint_level("softmax", 1)
    rungs = len(found.session.kata.hints())
    found.session.next_hint()
    assert found.session.hint[:2] == (2, rungs)
    for _ in range(rungs):
        found.session.next_hint()
    assert found.session.hint[0] == found.progress.hint_level("softmax") == rungs
    assert s.HINT not in found.session.available()
    found.session.hide_hint()
    assert found.session.hint is None
    found.session.next_hint()
    assert found.session.hint[0] == rungs


def test_reset_keeps_what_was_there(open_session):
    found = open_session("softmax", softmax=HALF)
    backup = found.session.reset()
    assert backup.read_text(encoding="utf-8") == HALF
    assert found.session.notice.startswith("softmax.py is the stub again; yours is kept as .kata")
    found.tell("softmax", s.CHANGED)
    found.until(lambda: found.session.verdict.outcome == v.NOT_STARTED)
    assert "yours is kept" in found.session.notice
    assert s.RESET not in found.session.available()


def test_a_reset_that_cannot_be_done_is_said(open_session, catalog):
    found = open_session("softmax")
    path = found.space.path(catalog["softmax"])
    path.unlink()
    path.mkdir()
    assert found.session.reset() is None
    assert "not an ordinary file" in found.session.notice


def test_actions_that_do_something_now(open_session):
    found = open_session("dot-product")
    base = (s.NEXT, s.LIST, s.HINT, s.OPEN, s.ALL, s.QUIT)
    assert found.session.available() == base
    text = "def attention_scores(q, k):\n    return 'slow half'\n"
    found.write("dot-product", text)
    assert found.bench.under_way.wait(10)
    assert s.RERUN not in found.session.available()
    found.bench.go_on.set()
    found.judged(text)
    assert set(found.session.available()) == {*base, s.RERUN, s.RESET}
    found.write("dot-product", text.replace("slow half", "right"))
    found.until(lambda: found.session.passed)
    assert s.SOLUTION in found.session.available()
    assert s.HINT not in found.session.available()
    found.write("dot-product", text.replace("slow half", "wrong"))
    found.until(lambda: not found.session.passed)
    found.until(lambda: s.SOLUTION in found.session.available())  # it was passed once


def test_rerun(open_session):
    found = open_session("softmax", softmax=HALF)
    found.session.rerun()
    found.until(lambda: found.bench.judged == [HALF, HALF])
    found.idle()
    assert found.session.changes == []
    assert found.session.milliseconds is None


def test_all_katas_in_a_row(open_session):
    found = open_session("softmax", softmax=RIGHT)
    found.session.judge_all()
    found.until(lambda: any(n.kind == s.ROUND_DONE for n in found.news))
    assert [one.kata for one in found.session.round] == [k.name for k in found.catalog.ready]
    assert found.progress.attempts("softmax") == 2
    assert not found.session.in_round


def test_a_save_stops_the_round(open_session):
    found = open_session("scale", softmax=SLOW)
    found.session.judge_all()
    assert found.bench.under_way.wait(10)
    found.write("scale", "def scaled_scores(q, k):\n    return 'right'\n")
    found.until(lambda: found.session.passed)
    assert found.session.kata.name == "scale"
    assert any(news.text == "judging all katas was stopped" for news in found.news)


def test_a_record_that_cannot_be_kept_is_said_once(open_session, monkeypatch):
    found = open_session("softmax")

    def refuses(*_):
        raise ProgressUnavailable("progress is not recorded: disk full")

    for name in ("record", "states", "hint_level", "set_hint_level"):
        monkeypatch.setattr(found.progress, name, refuses)
    for text in (WRONG, HALF, RIGHT):
        found.write("softmax", text)
        found.until(lambda text=text: found.bench.judged[-1:] == [text])
        found.idle()
    found.session.next_hint()
    assert found.session.passed
    assert [n.text for n in found.news].count("progress is not recorded: disk full") == 1


def test_polling_is_told(open_session):
    found = open_session("softmax")
    found.session.polls("this folder sends no events")
    assert found.session.polling == "this folder sends no events"
    assert found.news[-1].kind == s.POLLING


def test_closing_stops_what_is_under_way(tmp_path, catalog):
    found = Watched(tmp_path / "work", catalog, "softmax")
    found.put("softmax", SLOW)
    found.session.start()
    assert found.bench.under_way.wait(10)
    closing = threading.Thread(target=found.session.close)
    closing.start()
    closing.join(5)
    assert not closing.is_alive()
    assert found.bench.closed


def test_compare_looks_at_names_of_checks(catalog):
    def verdict(*outcomes):
        checks = [v.Check(n, n.upper(), o) for n, o in outcomes]
        return v.Verdict("softmax", v.FAILED, checks)

    before = verdict(("a", v.PASSED), ("b", v.FAILED), ("c", v.NOT_REACHED))
    after = verdict(("new", v.FAILED), ("a", v.TIMED_OUT), ("b", v.PASSED), ("c", v.FAILED))
    assert compare(before, after) == [s.Change(2, "A", False), s.Change(3, "B", True)]
    assert compare(None, after) is None
    assert compare(v.Verdict("softmax", v.BROKEN), after) is None


def test_editors(tmp_path, monkeypatch):
    path = tmp_path / "softmax.py"
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/vi" if name == "vi" else None)
    assert editor(path, {}).words == ("vi", str(path))
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert editor(path, {}) is None
    vim = editor(path, {"EDITOR": "vim -n"})
    assert (vim.words, vim.windowed) == (("vim", "-n", str(path)), False)
    code = editor(path, {"VISUAL": "code --wait", "EDITOR": "vim"})
    assert (code.words, code.windowed) == (("code", "-g", str(path)), True)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    inside = editor(path, {"TERM_PROGRAM": "vscode", "EDITOR": "vim"})
    assert (inside.name, inside.windowed) == ("code", True)
    assert editor(path, {"EDITOR": "'open"}).name == "sensible-editor"
    assert "cannot be started" in editor(path, {"EDITOR": "no-such-editor-at-all"}).start()
    assert "exit code 1" in editor(path, {"EDITOR": "false"}).start()


@pytest.mark.parametrize("poll", [False, True], ids=["events", "polling"])
def test_from_real_files_the_newest_content_gets_the_final_verdict(open_session, catalog, poll):
    """However saves fall, the verdict that stays is on what stands in the file."""
    found = open_session("softmax")
    path = found.space.path(catalog["softmax"])
    names = [kata.file for kata in catalog.ready]
    saves = Saves(found.space.root, names, found.session.saved, poll=poll)
    saves.start()
    chance = random.Random(5)
    try:
        for burst in range(12):
            for number in range(chance.randrange(1, 8)):
                text = f"{chance.choice((WRONG, HALF, SLOW))}# {burst} {number}\n"
                if chance.random() < 0.5:
                    path.write_text(text, encoding="utf-8")
                else:
                    aside = path.with_suffix(".tmp")
                    aside.write_text(text, encoding="utf-8")
                    os.replace(aside, path)
                time.sleep(chance.choice((0, 0.001, 0.02)))
            text = f"{RIGHT}# {burst}\n"
            path.write_text(text, encoding="utf-8")
            found.until(lambda text=text: found.bench.judged[-1:] == [text])
            found.idle()
            assert found.session.passed
    finally:
        saves.stop()
