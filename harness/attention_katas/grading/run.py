"""A class through the judge, and what came of it."""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from attention_katas.grading import entries
from attention_katas.grading.collect import Collected, StudentSubmission
from attention_katas.grading.ledger import Entry, Ledger, Noted, Run
from attention_katas.grading.results import Item, Result, Student, points_for, trouble
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import blank
from attention_katas.service.judge_service import ClassService, Task
from attention_katas.verdict import data as v

NOT_JUDGED = "not judged yet"
NOT_YET = f"{NOT_JUDGED}: the grading was stopped before"


@dataclass
class Tally:
    """How far a run is.

    settled of all: katas of students; judged: verdicts made in this run; last: what is waited for
    when nothing else is.
    """

    all: int = 0
    settled: int = 0
    judged: int = 0
    known: int = 0
    last: str = ""
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)

    def settle(self, outcome: str, times: int = 1) -> None:
        self.settled += times
        self.outcomes[outcome] += times


@dataclass(frozen=True)
class Assignment:
    """What is graded: some katas, and what each is worth. seconds: what a kata may take."""

    title: str
    katas: Sequence[Kata]
    worth: dict[str, int]
    secret: bytes
    seconds: float = 120.0


class GradingRun:
    """One run: everybody's katas, judged and written into the ledger as they come."""

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
        self.tally = Tally(all=len(collected.students) * len(assignment.katas))
        self.run = ledger.begin(collected.layout, origin, assignment.title)
        self._known = ledger.judged()
        self._waiting: collections.Counter[str] = collections.Counter()
        self._whose: dict[str, str] = {}
        self._noted: set[str] = set()

    def judge(self, service: ClassService) -> None:
        """Judge all hand-ins, and write the verdicts into the ledger as they come."""
        for task, verdict in service.judge_all(self._tasks()):
            self.ledger.keep(task.key, verdict)
            self.tally.judged += 1
            self.tally.settle(verdict.outcome, self._waiting.pop(task.key, 1))
            rest = [self._whose[key] for key in self._waiting]
            self.tally.last = ", ".join(rest) if len(rest) < 3 else ""
            self.tell(self.tally)
        self.ledger.finish(self.run)

    def _tasks(self) -> Iterator[Task]:
        """What has to be judged. Writes down who handed in what on the way."""
        for hand_in in self.collected:
            made = self._asked(hand_in)
            self._noted.add(hand_in.student.id)
            for one in made:
                if isinstance(one.found, v.Verdict):
                    self.ledger.keep(one.key, one.found)
                    self.tally.settle(one.found.outcome)
                elif one.key in self._known:
                    self.tally.known += 1
                    found = self.ledger.verdict(one.key)
                    self.tally.settle(found.outcome if found else v.COULD_NOT_GRADE)
                else:
                    self._waiting[one.key] += 1
                    if self._waiting[one.key] == 1:
                        self._whose[one.key] = f"{hand_in.student.shown}'s {one.kata.name}"
                        yield one.found
            self.tell(self.tally)

    def _asked(self, hand_in: StudentSubmission) -> list[entries.KataEntry]:
        """What there is to judge of a hand-in; written down."""
        katas, seconds = self.assignment.katas, self.assignment.seconds
        try:
            made = [
                entries.asked(self.catalog, kata, hand_in, self.seeds[kata.name], seconds)
                for kata in katas
            ]
            noted = self._note(hand_in, made)
        except Exception as error:  # noqa: BLE001 - ours; nobody else must suffer from it
            said = f"a fault of kata grade: {type(error).__name__}: {error}"[:300]
            hand_in.remarks.append(said)
            made = [entries.could_not(kata, kata.file, said) for kata in katas]
            noted = self._note(hand_in, made)
        self.ledger.note(self.run, noted)
        return made

    def _note(self, hand_in: StudentSubmission, made: Sequence[entries.KataEntry]) -> Noted:
        rows = []
        for one in made:
            form, size = entries.fingerprint(one.source)
            source = hashlib.sha256(one.source.encode("utf-8", "surrogatepass")).hexdigest()
            worth = self.assignment.worth[one.kata.name]
            file = hand_in.shown.get(one.kata.module, one.kata.file)
            functions = entries.functions(one.source, one.kata.functions)
            rows.append(Entry(one.kata.name, one.key, worth, file, source, form, size, functions))
        return Noted(hand_in.student, hand_in.late, hand_in.remarks, rows)

    def results(self) -> Results:
        """What came of everybody, also of those that were not reached."""
        missing = [one for one in self.collected.students if one.id not in self._noted]
        others = [self._missing(one) for one in missing]
        return Results(self.catalog, self.ledger, self.run, others)

    def _missing(self, student: Student) -> Result:
        items = [
            Item(
                kata.name,
                kata.title,
                self.assignment.worth[kata.name],
                None,
                blank(kata, v.COULD_NOT_GRADE, kata.file, NOT_YET),
            )
            for kata in self.assignment.katas
        ]
        return Result(student, items)


class Results(Sequence[Result]):
    """The results of a run, by student, read one at a time: a class need not fit into memory."""

    def __init__(
        self, catalog: Catalog, ledger: Ledger, run: int, others: Sequence[Result] = ()
    ) -> None:
        """others: of students that the ledger does not have."""
        self._catalog, self._ledger = catalog, ledger
        found: list[Noted | Result] = [*ledger.noted(run), *others]
        self._found = sorted(found, key=lambda one: one.student.id)

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> Result: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Result]: ...

    def __getitem__(self, at: int | slice) -> Result | Sequence[Result]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        found = self._found[at]
        return found if isinstance(found, Result) else _result(self._catalog, self._ledger, found)


@dataclass
class KataSummary:
    """How a kata went. points: those of everybody who could be graded, added up."""

    worth: int
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    points: int = 0
    graded: int = 0


@dataclass
class Summary:
    """A class in a few numbers, and what the teacher should look at.

    points: of everybody who could be graded in full. waiting: katas that were not judged yet.
    percents: (who, percentage) of all, what could not be graded counted as full; least: the lowest.
    lost: whose katas could not be graded, and why. remarks: (who, what).
    """

    katas: dict[str, KataSummary] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)
    worth: int = 0
    waiting: int = 0
    least: float = 100.0
    percents: list[tuple[str, float]] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)


def summed_up(results: Sequence[Result]) -> Summary:
    """Everything that is said of a class on the terminal, in one pass."""
    found = Summary()
    for result in results:
        who = result.student.shown
        found.worth = result.worth
        if result.graded:
            found.points.append(result.points)
        for item in result.items:
            kata = found.katas.setdefault(item.kata, KataSummary(item.worth))
            waits = item.verdict.message == NOT_YET and item.points is None
            found.waiting += waits
            kata.outcomes[NOT_JUDGED if waits else item.verdict.outcome] += 1
            if item.points is not None:
                kata.points += item.points
                kata.graded += 1
            if item.verdict.audit:
                found.remarks.append((who, f"{item.kata}: {', '.join(item.verdict.audit)}"))
        found.remarks += [(who, said) for said in [*result.remarks, *trouble(result)]]
        whys = [item for item in result.items if item.points is None]
        lost = [item for item in whys if item.verdict.message != NOT_YET]
        if lost:
            names = ", ".join(item.kata for item in lost)
            found.lost.append((who, f"could not grade {names}: {lost[0].verdict.message}"))
        benefit = sum(item.worth for item in whys)
        if result.worth:
            percent = 100 * (result.points + benefit) / result.worth
            found.percents.append((who, percent))
            found.least = min(found.least, percent)
    return found


def results_of(catalog: Catalog, ledger: Ledger, run: int | Run) -> Results:
    """The results of a run, as the ledger has them."""
    return Results(catalog, ledger, run.id if isinstance(run, Run) else run)


def _result(catalog: Catalog, ledger: Ledger, noted: Noted) -> Result:
    items = []
    for entry in noted.entries:
        kata = catalog[entry.kata]
        verdict = ledger.verdict(entry.key)
        if verdict is None:
            verdict = blank(kata, v.COULD_NOT_GRADE, entry.file, NOT_YET)
        verdict.file = entry.file
        points = points_for(verdict, entry.worth)
        items.append(Item(kata.name, kata.title, entry.worth, points, verdict))
    return Result(noted.student, items, noted.late, list(noted.remarks))
