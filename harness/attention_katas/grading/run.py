"""One grading run: a class is judged, and its results."""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from attention_katas.grading import entries, words
from attention_katas.grading.collect import Collected, StudentSubmission, grader_fault
from attention_katas.grading.entries import KataEntry
from attention_katas.grading.ledger import Entry, Ledger, LedgerStudent, Run
from attention_katas.grading.results import Item, Result, Student, cause, not_run, points_for
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import blank
from attention_katas.service.judge_service import ClassService, Task
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons as r
from attention_katas.verdict import words as verdict_words


@dataclass
class Tally:
    """The progress of a run.

    total: katas of all students.
    finished: those of them that have a verdict.
    judged: verdicts of this run.
    stored: verdicts that the ledger had already.
    last: the katas that are still being judged, where they are few.
    outcomes: of the finished katas.
    """

    total: int = 0
    finished: int = 0
    judged: int = 0
    stored: int = 0
    last: str = ""
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)

    def finish(self, outcome: str, times: int = 1) -> None:
        self.finished += times
        self.outcomes[outcome] += times


@dataclass(frozen=True)
class Assignment:
    """The katas that are graded.

    worth: points by the name of the kata.
    secret: decides all inputs.
    seconds: the limit for all checks of a kata.
    """

    title: str
    katas: Sequence[Kata]
    worth: dict[str, int]
    secret: bytes
    seconds: float = 120.0


class GradingRun:
    """One run: each kata of each student is judged and written into the ledger at once."""

    def __init__(
        self,
        catalog: Catalog,
        assignment: Assignment,
        collected: Collected,
        ledger: Ledger,
        origin: str,
        tell: Callable[[Tally], None] = lambda tally: None,
    ) -> None:
        self.catalog, self.assignment, self.collected = catalog, assignment, collected
        self.ledger, self.tell = ledger, tell
        self.seeds = {k.name: entries.seed_of(assignment.secret, k) for k in assignment.katas}
        self.tally = Tally(total=len(collected.students) * len(assignment.katas))
        self.run = ledger.begin(collected.layout, origin, assignment.title)
        self._judged = ledger.judged()
        self._waiting: collections.Counter[str] = collections.Counter()
        self._labels: dict[str, str] = {}
        self._noted: set[str] = set()

    def judge(self, service: ClassService) -> None:
        """Judge all submissions, and write the verdicts into the ledger as they come."""
        for task, verdict in service.judge_all(self._tasks()):
            self.ledger.keep(task.key, verdict)
            self.tally.judged += 1
            self.tally.finish(verdict.outcome, self._waiting.pop(task.key, 1))
            rest = [self._labels[key] for key in self._waiting]
            self.tally.last = ", ".join(rest) if len(rest) < 3 else ""
            self.tell(self.tally)
        self.ledger.finish(self.run)

    def _tasks(self) -> Iterator[Task]:
        """The tasks that have no verdict yet. Writes each submission into the ledger."""
        for submission in self.collected:
            kata_entries = self._entries(submission)
            self._noted.add(submission.student.id)
            for entry in kata_entries:
                if isinstance(entry.work, v.Verdict):
                    self.ledger.keep(entry.key, entry.work)
                    self.tally.finish(entry.work.outcome)
                elif entry.key in self._judged:
                    self._finish_stored(entry.key)
                else:
                    yield from self._wait_for(entry.work, submission.student)
            self.tell(self.tally)

    def _finish_stored(self, key: str) -> None:
        self.tally.stored += 1
        verdict = self.ledger.verdict(key)
        self.tally.finish(verdict.outcome if verdict else v.COULD_NOT_GRADE)

    def _wait_for(self, task: Task, student: Student) -> Iterator[Task]:
        """The task, unless the same one is waiting already."""
        self._waiting[task.key] += 1
        if self._waiting[task.key] == 1:
            self._labels[task.key] = f"{student.shown}'s {task.submission.kata.name}"
            yield task

    def _entries(self, submission: StudentSubmission) -> list[KataEntry]:
        """The entries of a submission, which are written into the ledger."""
        katas, seconds = self.assignment.katas, self.assignment.seconds
        try:
            kata_entries = [
                entries.kata_entry(self.catalog, kata, submission, self.seeds[kata.name], seconds)
                for kata in katas
            ]
            student = self._ledger_student(submission, kata_entries)
        except Exception as error:  # noqa: BLE001 - ours; nobody else must suffer from it
            fault = grader_fault(error)
            submission.remarks.append(fault)
            kata_entries = [entries.could_not_grade(kata, kata.file, fault) for kata in katas]
            student = self._ledger_student(submission, kata_entries)
        self.ledger.note(self.run, student)
        return kata_entries

    def _ledger_student(
        self, submission: StudentSubmission, kata_entries: Sequence[KataEntry]
    ) -> LedgerStudent:
        rows = [self._ledger_entry(submission, entry) for entry in kata_entries]
        return LedgerStudent(submission.student, submission.late, submission.remarks, rows)

    def _ledger_entry(self, submission: StudentSubmission, entry: KataEntry) -> Entry:
        form, size = entries.fingerprint(entry.source)
        return Entry(
            kata=entry.kata.name,
            key=entry.key,
            worth=self.assignment.worth[entry.kata.name],
            file=submission.files.get(entry.kata.module, entry.kata.file),
            source=hashlib.sha256(entry.source.encode("utf-8", "surrogatepass")).hexdigest(),
            form=form,
            size=size,
            functions=entries.functions(entry.source, entry.kata.functions),
        )

    def results(self) -> Results:
        """The results of all students, also of those that the run did not reach."""
        missing = [student for student in self.collected.students if student.id not in self._noted]
        return Results(self.catalog, self.ledger, self.run, list(map(self._missing, missing)))

    def _missing(self, student: Student) -> Result:
        items = [
            Item(kata.name, kata.title, self.assignment.worth[kata.name], None, _waiting(kata))
            for kata in self.assignment.katas
        ]
        return Result(student, items)


def _waiting(kata: Kata) -> v.Verdict:
    """Stands for a verdict that is still to come."""
    return blank(kata, v.COULD_NOT_GRADE, kata.file, r.NotJudgedYet())


class Results(Sequence[Result]):
    """The results of a run by student, read one at a time: a class need not fit into memory."""

    def __init__(
        self, catalog: Catalog, ledger: Ledger, run: int, missing: Sequence[Result] = ()
    ) -> None:
        """missing: results of students that the ledger does not have."""
        self._catalog, self._ledger = catalog, ledger
        rows: list[LedgerStudent | Result] = [*ledger.students(run), *missing]
        self._rows = sorted(rows, key=lambda row: row.student.id)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Result: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Result]: ...

    def __getitem__(self, at: int | slice) -> Result | Sequence[Result]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        row = self._rows[at]
        return row if isinstance(row, Result) else _result(self._catalog, self._ledger, row)


@dataclass
class KataSummary:
    """How a kata went.

    worth: the most points there are.
    outcomes: of all students.
    points: of all students who could be graded, added up.
    graded: how many could be graded.
    """

    worth: int
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    points: int = 0
    graded: int = 0

    def add(self, item: Item) -> None:
        self.outcomes[item.outcome] += 1
        if item.points is not None:
            self.points += item.points
            self.graded += 1


@dataclass
class Summary:
    """A class in a few numbers, and what the teacher should look at.

    katas: by name.
    points: of each student who could be graded in full.
    worth: the points of all katas.
    waiting: how many katas of students are not judged yet.
    least: the lowest of the percentages.
    percents: (student, percentage), what could not be graded counted as full.
    ungraded: (student, which katas could not be graded and why).
    remarks: (student, remark).
    """

    katas: dict[str, KataSummary] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)
    worth: int = 0
    waiting: int = 0
    least: float = 100.0
    percents: list[tuple[str, float]] = field(default_factory=list)
    ungraded: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)

    def add(self, result: Result) -> None:
        self.worth = result.worth
        if result.graded:
            self.points.append(result.points)
        for item in result.items:
            self.katas.setdefault(item.kata, KataSummary(item.worth)).add(item)
            self.waiting += item.waiting
        self._add_percent(result)
        self._add_ungraded(result)
        self._add_remarks(result)

    def _add_percent(self, result: Result) -> None:
        benefit = sum(item.worth for item in result.items if item.points is None)
        if result.worth:
            percent = 100 * (result.points + benefit) / result.worth
            self.percents.append((result.student.shown, percent))
            self.least = min(self.least, percent)

    def _add_ungraded(self, result: Result) -> None:
        items = [i for i in result.items if i.points is None and not i.waiting]
        if items:
            names = ", ".join(item.kata for item in items)
            sentence = verdict_words.reason(cause(items[0].verdict))
            self.ungraded.append((result.student.shown, f"could not grade {names}: {sentence}"))

    def _add_remarks(self, result: Result) -> None:
        audits = [
            f"{item.kata}: {', '.join(map(verdict_words.notice, item.verdict.audit))}"
            for item in result.items
            if item.verdict.audit
        ]
        remarks = [words.remark(remark) for remark in result.remarks]
        reasons = [group.sentence for group in not_run(result)]
        self.remarks += [(result.student.shown, text) for text in audits + remarks + reasons]


def summary_of(results: Sequence[Result]) -> Summary:
    """Everything that the terminal shows of a class, in one pass."""
    summary = Summary()
    for result in results:
        summary.add(result)
    return summary


def results_of(catalog: Catalog, ledger: Ledger, run: int | Run) -> Results:
    """The results of a run, as the ledger has them."""
    return Results(catalog, ledger, run.id if isinstance(run, Run) else run)


def _result(catalog: Catalog, ledger: Ledger, row: LedgerStudent) -> Result:
    items = []
    for entry in row.entries:
        kata = catalog[entry.kata]
        verdict = ledger.verdict(entry.key) or _waiting(kata)
        verdict.file = entry.file
        points = points_for(verdict, entry.worth)
        items.append(Item(kata.name, kata.title, entry.worth, points, verdict))
    return Result(row.student, items, row.late, list(row.remarks))
