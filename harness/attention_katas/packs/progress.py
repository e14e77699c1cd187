"""What was tried and what was passed, in .kata/progress.db (SQLite).

A cache of the learner's files: `kata run --all` rebuilds what it says. The source of every
first pass is kept in it, so that no pass is ever lost.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from attention_katas.errors import ProgressUnavailable
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.kata import Kata
from attention_katas.packs.submission import Unreadable, submission
from attention_katas.verdict import data as v

T = TypeVar("T")
PENDING, DONE, STALE = "pending", "done", "stale"

SCHEMA = """
create table if not exists attempts (
    id integer primary key,
    at text not null,
    kata text not null,
    kata_version text not null,
    source_hash text not null,
    outcome text not null,
    passed integer not null,
    total integer not null,
    seconds real not null,
    device text not null,
    seed integer not null,
    checks text not null
);
create index if not exists attempts_by_kata on attempts (kata, id);
create table if not exists first_passes (
    kata text primary key,
    at text not null,
    kata_version text not null,
    source_hash text not null,
    source text not null
);
create table if not exists hints (
    kata text primary key,
    level integer not null
);
pragma user_version = 1;
"""


@dataclass(frozen=True)
class Attempt:
    """One recorded attempt."""

    at: str
    outcome: str
    passed: int
    total: int
    kata_version: str
    source_hash: str


@dataclass(frozen=True)
class State:
    """Where a kata stands: pending, done, or stale (the file or the kata changed since)."""

    name: str
    detail: str
    attempts: int = 0
    first_pass: str = ""


class Progress:
    """The progress file of a workspace. Every method raises ProgressUnavailable."""

    def __init__(self, path: Path, keys: Mapping[str, str] | None = None) -> None:
        """keys: see `Catalog.keys`; a kata that is not in it goes by its name."""
        self.path = path
        self._keys = keys or {}
        self.notice = ""
        self.patience = 10.0  # seconds to wait for another process that writes

    def record(self, verdict: v.Verdict, source: str) -> None:
        """Keep an attempt, and the source of the first pass."""
        checks = json.dumps([[check.name, check.outcome] for check in verdict.checks])
        at = _now()
        row = (
            at,
            self._key(verdict.kata),
            verdict.kata_version,
            verdict.source_hash,
            verdict.outcome,
            verdict.passed,
            verdict.total,
            verdict.seconds,
            verdict.device,
            verdict.seed,
            checks,
        )
        first = (self._key(verdict.kata), at, verdict.kata_version, verdict.source_hash, source)

        def keep(db: sqlite3.Connection) -> None:
            db.execute("insert into attempts values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            if verdict.outcome == v.PASSED:
                db.execute("insert or ignore into first_passes values (?, ?, ?, ?, ?)", first)

        self._do(keep)

    def last(self, kata: str) -> Attempt | None:
        """The latest attempt that was judged (could not grade counts as none)."""
        return self._do(lambda db: _last(db, self._key(kata)))

    def attempts(self, kata: str) -> int:
        return self._do(lambda db: _attempts(db, self._key(kata)))

    def first_pass(self, kata: str) -> tuple[str, str] | None:
        """When the kata was first passed, and with which source."""
        return self._do(lambda db: _first_pass(db, self._key(kata)))

    def hint_level(self, kata: str) -> int:
        """How many rungs of the hint ladder have been shown."""
        query = "select level from hints where kata = ?"
        row = self._do(lambda db: _row(db, query, self._key(kata)))
        return int(row[0]) if row else 0

    def set_hint_level(self, kata: str, level: int) -> None:
        row = (self._key(kata), level)
        self._do(lambda db: db.execute("insert or replace into hints values (?, ?)", row))

    def state(self, kata: str, kata_version: str, source_hash: str) -> State:
        """pending, done or stale, for a kata and the learner's file as they are now.

        source_hash is "" for a file that is still the stub.
        """
        return self._do(lambda db: _state(db, self._key(kata), kata_version, source_hash))

    def states(self, catalog: Catalog, root: Path) -> dict[str, State]:
        """Where every kata stands, by the learner's files in the folder `root` as they are."""
        digests = {}
        for kata in catalog.ready:
            try:
                candidate = submission(catalog, kata, root / kata.file)
                digests[kata] = "" if candidate.not_started else candidate.digest
            except (OSError, Unreadable):
                digests[kata] = "unreadable"
        return self._do(
            lambda db: {k.name: _state(db, k.key, k.version, d) for k, d in digests.items()}
        )

    def _key(self, kata: str) -> str:
        return self._keys.get(kata, kata)

    def _do(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Act in one transaction; a damaged file is set aside first, and a new one begun."""
        try:
            return self._transact(act)
        except sqlite3.OperationalError as error:
            raise self._unavailable(error) from None
        except sqlite3.DatabaseError:
            self._set_aside()
        try:
            return self._transact(act)
        except sqlite3.Error as error:
            raise self._unavailable(error) from None

    def _transact(self, act: Callable[[sqlite3.Connection], T]) -> T:
        db = self._connect()
        try:
            with db:
                return act(db)
        finally:
            db.close()

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(exist_ok=True)  # not a workspace that was moved away
        except OSError as error:
            raise self._unavailable(error) from None
        db = sqlite3.connect(self.path, timeout=self.patience)
        try:
            version = db.execute("pragma user_version").fetchone()[0]
            if version > 1:
                raise self._unavailable(Exception("it was written by a later version of kata"))
            tables = "select count(*) from sqlite_master where name in"
            names = "('attempts', 'first_passes', 'hints')"
            if not version or db.execute(f"{tables} {names}").fetchone()[0] < 3:
                db.executescript(SCHEMA)
        except (sqlite3.Error, ProgressUnavailable):
            db.close()
            raise
        return db

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"progress.damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
        try:
            os.replace(self.path, aside)
        except OSError as error:
            raise self._unavailable(error) from None
        self.notice = (
            f"the progress file was damaged; it is kept as {aside.name} and a new one is begun "
            "(kata run --all rebuilds it)"
        )

    def _unavailable(self, error: Exception) -> ProgressUnavailable:
        return ProgressUnavailable(
            f"progress is not recorded: {self.path}: {error}", "check that the folder is writable"
        )


def _row(db: sqlite3.Connection, query: str, *values: str) -> Any:
    return db.execute(query, values).fetchone()


def _last(db: sqlite3.Connection, kata: str) -> Attempt | None:
    query = (
        "select at, outcome, passed, total, kata_version, source_hash from attempts"
        " where kata = ? and outcome != ? order by id desc limit 1"
    )
    row = _row(db, query, kata, v.COULD_NOT_GRADE)
    return Attempt(*row) if row else None


def _attempts(db: sqlite3.Connection, kata: str) -> int:
    return int(_row(db, "select count(*) from attempts where kata = ?", kata)[0])


def _first_pass(db: sqlite3.Connection, kata: str) -> tuple[str, str] | None:
    row = _row(db, "select at, source from first_passes where kata = ?", kata)
    return (row[0], row[1]) if row else None


def _state(db: sqlite3.Connection, kata: str, kata_version: str, source_hash: str) -> State:
    last, first = _last(db, kata), _first_pass(db, kata)
    tries, passed_on = _attempts(db, kata), first[0][:10] if first else ""
    if not source_hash:
        return State(PENDING, "not started", tries, passed_on)
    if last is None:
        return State(PENDING, "not judged yet", tries, passed_on)
    if last.outcome != v.PASSED:
        count = f"{last.passed} of {last.total} checks" if last.total else last.outcome
        return State(PENDING, count, tries, passed_on)
    if last.kata_version != kata_version:
        return State(STALE, "the kata changed since you passed it", tries, passed_on)
    if last.source_hash != source_hash:
        return State(
            STALE,
            "your file, or one that it imports, changed since it passed",
            tries,
            passed_on,
        )
    return State(DONE, f"passed {last.at[:10]}", tries, passed_on)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def next_kata(katas: Iterable[Kata], states: Mapping[str, State]) -> Kata | None:
    """The first of some katas that is not done; None when all are."""
    return next((k for k in katas if k.name not in states or states[k.name].name != DONE), None)
