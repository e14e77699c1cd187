"""The ledger: verdicts as they come, in an SQLite file that survives being killed at any moment.

A verdict is kept by the key of its task, so that the same content is judged once, and a run that
was cut off goes on where it stopped. Each run writes down who handed in what; reports are about
the last one.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from attention_katas.errors import KataError
from attention_katas.grading.results import Student
from attention_katas.verdict import data as v

IN_MEMORY = Path(":memory:")
APPLICATION = 0x4B415441  # "KATA"
FORMAT = 1
SCHEMA = f"""
pragma application_id = {APPLICATION};
pragma user_version = {FORMAT};
create table if not exists meta (name text primary key, value text not null);
create table if not exists verdicts (
    key text primary key,
    kata text not null,
    outcome text not null,
    at text not null,
    seconds real not null,
    verdict blob not null
);
create table if not exists runs (
    id integer primary key,
    at text not null,
    layout text not null,
    origin text not null,
    title text not null,
    done integer not null default 0
);
create table if not exists hand_ins (
    run integer not null,
    student text not null,
    name text not null,
    ids text not null,
    late integer not null,
    remarks text not null,
    primary key (run, student)
);
create table if not exists entries (
    run integer not null,
    student text not null,
    kata text not null,
    key text not null,
    worth integer not null,
    file text not null,
    source text not null,
    form text not null,
    size integer not null,
    functions text not null default '[]',
    primary key (run, student, kata)
);
"""


@dataclass(frozen=True)
class Entry:
    """One kata of one student in a run.

    source: a hash of the code as it was handed in. form, size: see `tasks.fingerprint`.
    functions: name, form and size of each function that the kata asks for.
    """

    kata: str
    key: str
    worth: int
    file: str
    source: str
    form: str
    size: int
    functions: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True)
class Run:
    """One time that a class was graded. at: UTC. done: it was not cut off."""

    id: int
    at: str
    layout: str
    origin: str
    title: str
    done: bool


@dataclass(frozen=True)
class Noted:
    """One student in a run."""

    student: Student
    late: bool
    remarks: list[str]
    entries: list[Entry]


class Ledger:
    """Opened for as long as it is used. Every method raises KataError when the file gives trouble.

    Of one thread only.
    """

    def __init__(self, path: Path, *, new: bool = True, reading: bool = False) -> None:
        """new: begin one if there is none. reading: one that can only be read will do."""
        self.path, self._only_read = path, False
        if not new and not path.exists():
            raise KataError(
                f"there is no ledger {path}", "kata grade CLASS --ledger FILE makes one"
            )
        if new and path != IN_MEMORY:
            with contextlib.suppress(OSError):  # a secret stands in it, and what everybody did
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            self._connect(str(path), new)
        except sqlite3.OperationalError as error:
            if not reading:
                raise self._trouble(error) from None
            self._connect_reading(error)
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from None

    def _connect(self, where: str, new: bool, uri: bool = False) -> None:
        self._db = sqlite3.connect(where, timeout=30.0, uri=uri)
        try:
            self._open(new)
        except BaseException:
            self._db.close()
            raise

    def _connect_reading(self, why: sqlite3.Error) -> None:
        """Where nothing can be written.

        Even to read a ledger SQLite writes beside it, unless it is told that nobody else does
        ("immutable"). Then it does not see what is still in the -wal beside it.
        """
        waiting = Path(f"{self.path}-wal")
        left = waiting.is_file() and waiting.stat().st_size > 0
        how = "mode=ro" if left else "mode=ro&immutable=1"
        self._only_read = True
        try:
            self._connect(f"{self.path.resolve().as_uri()}?{how}", new=False, uri=True)
        except sqlite3.DatabaseError:
            self._only_read = False
            if not left:
                raise self._trouble(why) from None
            raise KataError(
                f"{self.path} cannot be read here: its end is still in {waiting.name}, and "
                f"nothing can be written beside it",
                "copy both files to a folder of your own, then kata grade report there",
            ) from None

    def _open(self, new: bool) -> None:
        told = [
            self._db.execute(f"pragma {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        ]
        there = self._db.execute("select count(*) from sqlite_master").fetchone()[0]
        if told == [APPLICATION, FORMAT]:
            pass
        elif not there and told == [0, 0] and new:
            self._db.executescript(SCHEMA)
        elif told[0] == APPLICATION:
            raise KataError(f"{self.path} was written by another version of kata")
        else:
            raise KataError(f"{self.path} is no ledger; it is left as it is")
        if not self._only_read:
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
        self._grow()

    def _grow(self) -> None:
        """Ledgers of before know no functions."""
        there = {row[1] for row in self._db.execute("pragma table_info(entries)")}
        self._functions = "functions" if "functions" in there or not there else "'[]'"
        if not self._only_read and there and "functions" not in there:
            self._db.execute("alter table entries add column functions text not null default '[]'")
            self._functions = "functions"

    def _trouble(self, error: Exception) -> KataError:
        if self._only_read:
            return KataError(
                f"the ledger {self.path} can only be read: {error}",
                "copy it to a folder of your own, then kata grade report there",
            )
        return KataError(
            f"the ledger {self.path} cannot be used: {error}",
            "--ledger with another file; this one is left as it is",
        )

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._db:
                yield self._db
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """While what was kept is made into objects again."""
        try:
            yield
        except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._trouble(error) from None

    def _rows(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    # What is remembered from run to run

    def remembered(self, name: str) -> str | None:
        rows = self._rows("select value from meta where name = ?", name)
        return str(rows[0][0]) if rows else None

    def remember(self, name: str, value: str) -> None:
        with self._writing() as db:
            db.execute("insert or replace into meta values (?, ?)", (name, value))

    # Verdicts

    def keep(self, key: str, verdict: v.Verdict) -> None:
        """Write a verdict down; from here on it is not lost. Ours never replaces a real one."""
        packed = zlib.compress(json.dumps(verdict.to_dict()).encode())
        row = (key, verdict.kata, verdict.outcome, _now(), verdict.seconds, packed)
        how = "ignore" if verdict.outcome == v.COULD_NOT_GRADE else "replace"
        with self._writing() as db:
            db.execute(f"insert or {how} into verdicts values (?, ?, ?, ?, ?, ?)", row)  # noqa: S608

    def verdict(self, key: str) -> v.Verdict | None:
        rows = self._rows("select verdict from verdicts where key = ?", key)
        with self._reading():
            return v.from_dict(json.loads(zlib.decompress(rows[0][0]))) if rows else None

    def judged(self) -> set[str]:
        """Keys that need no judging any more: all but those that could not be graded."""
        query = "select key from verdicts where outcome != ?"
        return {row[0] for row in self._rows(query, v.COULD_NOT_GRADE)}

    # Runs

    def begin(self, layout: str, origin: str, title: str) -> int:
        """A new run; its number. origin: what was graded."""
        query = "insert into runs (at, layout, origin, title) values (?, ?, ?, ?)"
        with self._writing() as db:
            return int(db.execute(query, (_now(), layout, origin, title)).lastrowid or 0)

    def finish(self, run: int) -> None:
        """Everything of a run has been judged."""
        with self._writing() as db:
            db.execute("update runs set done = 1 where id = ?", (run,))

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        query = "select id, at, layout, origin, title, done from runs order by id desc"
        return [
            Run(number, at, layout, origin, title, bool(done))
            for number, at, layout, origin, title, done in self._rows(query)
        ]

    def note(self, run: int, noted: Noted) -> None:
        student = noted.student
        entries = [
            (run, student.id, *astuple(e)[:-1], json.dumps(e.functions)) for e in noted.entries
        ]
        with self._writing() as db:
            db.execute(
                "insert or replace into hand_ins values (?, ?, ?, ?, ?, ?)",
                (
                    run,
                    student.id,
                    student.name,
                    json.dumps(dict(student.ids)),
                    noted.late,
                    json.dumps(noted.remarks),
                ),
            )
            db.executemany(
                "insert or replace into entries values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries
            )

    def last_run(self) -> Run:
        """The latest run. Raises KataError when there is none."""
        runs = self.runs()
        if not runs:
            raise KataError(f"nothing was graded with {self.path} yet", "kata grade CLASS")
        return runs[0]

    def noted(self, run: int) -> Iterable[Noted]:
        """Everybody in a run, in the order of their ids."""
        columns = f"kata, key, worth, file, source, form, size, {self._functions}"
        query = f"select {columns} from entries"  # noqa: S608
        for student, name, ids, late, remarks in self._rows(
            "select student, name, ids, late, remarks from hand_ins where run = ? order by student",
            run,
        ):
            rows = self._rows(f"{query} where run = ? and student = ? order by rowid", run, student)
            with self._reading():
                known, said = json.loads(ids), json.loads(remarks)
                entries = [Entry(*(*told, _functions(kept))) for *told, kept in rows]
            yield Noted(Student(student, name, known), bool(late), said, entries)


def _functions(kept: str) -> tuple[tuple[str, str, int], ...]:
    return tuple((sys.intern(name), form, size) for name, form, size in json.loads(kept))


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
