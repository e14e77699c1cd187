"""Attempts and passes: kept, and told as pending, done or stale."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from attention_katas.errors import ProgressUnavailable
from attention_katas.packs.progress import DONE, PENDING, STALE, Progress
from attention_katas.verdict import data as v


def verdict(outcome=v.PASSED, **changes):
    base = {"kata": "softmax", "kata_version": "k1", "source_hash": "s1", "seed": 5}
    checks = [v.Check("a", "A", v.PASSED), v.Check("b", "B", outcome)]
    return v.Verdict(outcome=outcome, checks=checks, **{**base, **changes})


@pytest.fixture
def progress(tmp_path):
    return Progress(tmp_path / ".kata" / "progress.db")


def test_nothing_yet(progress):
    assert progress.state("softmax", "k1", "s1").name == PENDING
    assert progress.last("softmax") is None


def test_states(progress):
    progress.record(verdict(v.FAILED), "source 0")
    state = progress.state("softmax", "k1", "s1")
    assert (state.name, state.detail) == (PENDING, "1 of 2 checks")
    progress.record(verdict(), "source 1")
    assert progress.state("softmax", "k1", "s1").name == DONE
    assert progress.state("softmax", "k1", "s2").name == STALE
    assert "your file" in progress.state("softmax", "k1", "s2").detail
    assert "the kata" in progress.state("softmax", "k2", "s1").detail
    progress.record(verdict(v.FAILED, source_hash="s2"), "source 2")
    state = progress.state("softmax", "k1", "s2")
    assert state.name == PENDING
    assert state.attempts == 3
    assert state.first_pass


def test_the_first_pass_is_kept_for_good(progress):
    progress.record(verdict(), "the first")
    progress.record(verdict(source_hash="s2"), "a later one")
    assert progress.first_pass("softmax")[1] == "the first"


def test_could_not_grade_changes_nothing(progress):
    progress.record(verdict(), "source")
    progress.record(verdict(v.COULD_NOT_GRADE), "source")
    assert progress.state("softmax", "k1", "s1").name == DONE


def test_hints_are_remembered(progress):
    assert progress.hint_level("softmax") == 0
    progress.set_hint_level("softmax", 2)
    assert progress.hint_level("softmax") == 2


def test_a_damaged_file_is_set_aside_and_said(progress):
    progress.record(verdict(), "source")
    progress.path.write_bytes(b"this is no database, whatever its name says" * 100)
    progress.record(verdict(), "source")
    assert "damaged" in progress.notice
    assert progress.state("softmax", "k1", "s1").name == DONE
    assert len(list(progress.path.parent.glob("progress.damaged-*.db"))) == 1


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ProgressUnavailable, match="not recorded"):
        Progress(tmp_path / "file" / "progress.db").record(verdict(), "source")


def test_two_writers_wait_for_each_other(progress):
    progress.record(verdict(), "source")
    other = sqlite3.connect(progress.path, timeout=0)
    other.execute("begin immediate")
    reader = Progress(progress.path)
    assert reader.attempts("softmax") == 1
    other.rollback()
    other.close()
    reader.record(verdict(), "source")
    assert reader.attempts("softmax") == 2


def test_a_workspace_that_was_moved_away_is_not_made_again(tmp_path):
    gone = tmp_path / "moved" / ".kata" / "progress.db"
    with pytest.raises(ProgressUnavailable):
        Progress(gone).hint_level("softmax")
    assert not (tmp_path / "moved").exists()


# What version 0.1 wrote, where katas have no key but their name.
SCHEMA_OF_0_1 = """
create table attempts (
    id integer primary key, at text not null, kata text not null, kata_version text not null,
    source_hash text not null, outcome text not null, passed integer not null,
    total integer not null, seconds real not null, device text not null, seed integer not null,
    checks text not null
);
create index attempts_by_kata on attempts (kata, id);
create table first_passes (
    kata text primary key, at text not null, kata_version text not null,
    source_hash text not null, source text not null
);
create table hints (kata text primary key, level integer not null);
insert into attempts values (
    1, '2026-05-01T10:00:00', 'softmax', 'k1', 's1', 'passed', 2, 2, 0.5, 'cpu', 7,
    '[["a", "passed"], ["b", "passed"]]'
);
insert into first_passes values ('softmax', '2026-05-01T10:00:00', 'k1', 's1', 'the source');
insert into hints values ('mask', 2);
pragma user_version = 1;
"""


def test_a_workspace_of_version_0_1_keeps_its_passes(tmp_path, catalog):
    path = tmp_path / ".kata" / "progress.db"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA_OF_0_1)
    progress = Progress(path, catalog.keys)
    state = progress.state("softmax", "k1", "s1")
    assert (state.name, state.attempts, state.first_pass) == (DONE, 1, "2026-05-01")
    stale = progress.state("softmax", "k2", "s1")
    assert (stale.name, stale.first_pass) == (STALE, "2026-05-01")
    assert progress.first_pass("softmax") == ("2026-05-01T10:00:00", "the source")
    assert progress.hint_level("mask") == 2
    progress.record(verdict(v.FAILED), "later")
    assert progress.attempts("softmax") == 2
    assert progress.notice == ""
