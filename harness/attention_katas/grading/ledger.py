"""The ledger: verdicts as they come, in an SQLite file that survives being killed at any moment.

A verdict is stored by the key of its task, so that the same content is judged once, and a run that
was cut off goes on where it stopped. Each run stores who handed in what; reports are about the last
one.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from attention_katas.errors import KataError
from attention_katas.grading.remarks import Remark
from attention_katas.grading.results import Student
from attention_katas.verdict import data as v

IN_MEMORY = Path(":memory:")
APPLICATION = 0x4B415441  # "KATA"
FORMAT = 2  # 1 was that of version 0.1, whose verdicts hold sentences instead of facts
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
create table if not exists submissions (
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
    functions text not null,
    primary key (run, student, kata)
);
"""


class Entry(msgspec.Struct, frozen=True):
    """One kata of one student in a run.

    key: of the verdict.
    worth: the most points there are.
    file: the path of the file, as the student knows it.
    source: a hash of the code.
    form, size: see `entries.fingerprint`.
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


class Run(msgspec.Struct, frozen=True):
    """One time that a class was graded.

    at: when it began, in UTC.
    layout: of the submissions.
    origin: where they were.
    title: of the assignment.
    done: it was not cut off.
    """

    id: int
    at: str
    layout: str
    origin: str
    title: str
    done: bool


@dataclass(frozen=True)
class LedgerStudent:
    """One student in a run.

    late: the platform says so.
    remarks: for the teacher.
    entries: katas in their order.
    """

    student: Student
    late: bool
    remarks: list[Remark]
    entries: list[Entry]


class Ledger:
    """A ledger that is open. Every method raises KataError when the file cannot be used.

    For one thread only.
    """

    def __init__(self, path: Path, *, new: bool = True, reading: bool = False) -> None:
        """Open the ledger.

        new: create the file if there is none.
        reading: a file that can only be read is enough.
        """
        self.path, self._only_read = path, False
        if not new and not path.exists():
            raise KataError(
                f"there is no ledger {path}", "kata grade CLASS --ledger FILE makes one"
            )
        if new and path != IN_MEMORY:
            with contextlib.suppress(OSError):  # for its owner only: it holds a secret and names
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
        log = Path(f"{self.path}-wal")
        pending = log.is_file() and log.stat().st_size > 0
        mode = "mode=ro" if pending else "mode=ro&immutable=1"
        self._only_read = True
        try:
            self._connect(f"{self.path.resolve().as_uri()}?{mode}", new=False, uri=True)
        except sqlite3.DatabaseError:
            self._only_read = False
            if not pending:
                raise self._trouble(why) from None
            raise KataError(
                f"{self.path} cannot be read here: its end is still in {log.name}, and "
                f"nothing can be written beside it",
                "copy both files to a folder of your own, then kata grade report there",
            ) from None

    def _open(self, new: bool) -> None:
        application, version = (
            self._db.execute(f"pragma {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        empty = not self._db.execute("select count(*) from sqlite_master").fetchone()[0]
        if empty and new and (application, version) == (0, 0):
            self._db.executescript(SCHEMA)
        elif application != APPLICATION:
            raise KataError(f"{self.path} is no ledger; it is left as it is")
        elif version != FORMAT:
            raise self._other_version(version)
        if not self._only_read:
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")

    def _other_version(self, version: int) -> KataError:
        if version > FORMAT:
            return KataError(
                f"the ledger {self.path} was written by a later version of kata",
                "install that version; this file is left as it is",
            )
        return KataError(
            f"the ledger {self.path} was written by version 0.1 of kata, and this version cannot "
            "read its verdicts",
            "kata grade CLASS --ledger NEW.db grades the class again; this file is left as it is",
        )

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
        """While stored text is decoded."""
        try:
            yield
        except (zlib.error, ValueError) as error:
            raise self._trouble(error) from None

    def _rows(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    # Values that all runs share

    def remembered(self, name: str) -> str | None:
        rows = self._rows("select value from meta where name = ?", name)
        return str(rows[0][0]) if rows else None

    def remember(self, name: str, value: str) -> None:
        with self._writing() as db:
            db.execute("insert or replace into meta values (?, ?)", (name, value))

    def remember_command(self, folder: str, command: str) -> None:
        """Store the command of the latest run, and the folder in which it was typed."""
        self.remember("command", json.dumps([folder, command]))

    def remembered_command(self) -> tuple[str, str] | None:
        """Folder and command of the latest run, or None."""
        text = self.remembered("command")
        with self._reading():
            return msgspec.json.decode(text, type=tuple[str, str]) if text else None

    # Verdicts

    def keep(self, key: str, verdict: v.Verdict) -> None:
        """Store a verdict; from here on it survives a kill. `could not grade` replaces no other."""
        packed = zlib.compress(v.encode(verdict).encode())
        row = (key, verdict.kata, verdict.outcome, _now(), verdict.seconds, packed)
        conflict = "ignore" if verdict.outcome == v.COULD_NOT_GRADE else "replace"
        with self._writing() as db:
            db.execute(f"insert or {conflict} into verdicts values (?, ?, ?, ?, ?, ?)", row)  # noqa: S608

    def verdict(self, key: str) -> v.Verdict | None:
        rows = self._rows("select verdict from verdicts where key = ?", key)
        with self._reading():
            return v.decode(zlib.decompress(rows[0][0])) if rows else None

    def judged(self) -> set[str]:
        """Keys of all verdicts but those that could not be graded, which are tried again."""
        query = "select key from verdicts where outcome != ?"
        return {row[0] for row in self._rows(query, v.COULD_NOT_GRADE)}

    # Runs

    def begin(self, layout: str, origin: str, title: str) -> int:
        """Begin a run; returns its number. origin: where the submissions are."""
        query = "insert into runs (at, layout, origin, title) values (?, ?, ?, ?)"
        with self._writing() as db:
            return int(db.execute(query, (_now(), layout, origin, title)).lastrowid or 0)

    def finish(self, run: int) -> None:
        """Mark the run as one that was not cut off."""
        with self._writing() as db:
            db.execute("update runs set done = 1 where id = ?", (run,))

    def runs(self) -> list[Run]:
        """All runs, the latest first."""
        query = "select id, at, layout, origin, title, done from runs order by id desc"
        return [
            Run(number, at, layout, origin, title, bool(done))
            for number, at, layout, origin, title, done in self._rows(query)
        ]

    def note(self, run: int, row: LedgerStudent) -> None:
        """Store who handed in what."""
        student = row.student
        ids, remarks = json.dumps(dict(student.ids)), _packed(row.remarks)
        submission = (run, student.id, student.name, ids, row.late, remarks)
        entries = [
            (run, student.id, *msgspec.structs.astuple(entry)[:-1], json.dumps(entry.functions))
            for entry in row.entries
        ]
        with self._writing() as db:
            db.execute("insert or replace into submissions values (?, ?, ?, ?, ?, ?)", submission)
            db.executemany(
                "insert or replace into entries values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries
            )

    def last_run(self) -> Run:
        """The latest run. Raises KataError when there is none."""
        runs = self.runs()
        if not runs:
            raise KataError(f"nothing was graded with {self.path} yet", "kata grade CLASS")
        return runs[0]

    def students(self, run: int) -> Iterable[LedgerStudent]:
        """All students of a run, in the order of their ids."""
        submissions = self._rows(
            "select student, name, ids, late, remarks from submissions where run = ?"
            " order by student",
            run,
        )
        for student, name, ids, late, remarks in submissions:
            rows = self._rows(
                "select kata, key, worth, file, source, form, size, functions from entries"
                " where run = ? and student = ? order by rowid",
                run,
                student,
            )
            with self._reading():
                yield LedgerStudent(
                    Student(student, name, json.loads(ids)),
                    bool(late),
                    msgspec.convert(json.loads(remarks), list[Remark]),
                    [_entry(*row) for row in rows],
                )


def _packed(remarks: list[Remark]) -> str:
    # Not msgspec.json: it refuses lone surrogates, which file names may hold.
    return json.dumps(msgspec.to_builtins(remarks))


def _entry(
    kata: str, key: str, worth: int, file: str, source: str, form: str, size: int, functions: str
) -> Entry:
    return Entry(kata, key, worth, file, source, form, size, _functions(functions))


def _functions(text: str) -> tuple[tuple[str, str, int], ...]:
    functions = msgspec.json.decode(text, type=list[tuple[str, str, int]])
    return tuple((sys.intern(name), form, size) for name, form, size in functions)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
