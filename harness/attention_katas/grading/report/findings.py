"""The report on a grading run, as plain data: how a class did, and what the teacher should see.

Students are given by their ids; `Report.names` has the name to show for each.
"""

from __future__ import annotations

import collections
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attention_katas.errors import KataError
from attention_katas.grading import words
from attention_katas.grading.ledger import Ledger, LedgerStudent, Run
from attention_katas.grading.report import anonymous, facts, not_run, regrade, rows, similarity
from attention_katas.grading.report.rows import Graded, Misconception, Row
from attention_katas.grading.results import NotRun
from attention_katas.packs.catalog import Catalog
from attention_katas.verdict import data as v

# Shares of the points, and what they are called.
SHARES = ("0", "under ¼", "under ½", "under ¾", "under all", "all")


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception, and who has it."""

    misconception: Misconception
    students: list[str]


@dataclass
class KataPart:
    """How one kata went.

    outcomes: of all students.
    points: of each student who could be graded.
    wrong: how many were judged and did not pass.
    misconceptions: of those who are wrong, the most frequent first.
    apart: those of them without a mistake that has a name, by one of `facts.APART`.
    checks: how many fail each check, by its title.
    stuck: students for whom it is the first kata that is not passed, by the check that fails.
    """

    name: str
    title: str
    worth: int
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    points: list[int] = field(default_factory=list)
    wrong: int = 0
    misconceptions: list[MisconceptionCount] = field(default_factory=list)
    apart: dict[str, list[str]] = field(default_factory=dict)
    checks: collections.Counter[str] = field(default_factory=collections.Counter)
    stuck: dict[str, list[str]] = field(default_factory=dict)

    @property
    def mean(self) -> float | None:
        return statistics.fmean(self.points) if self.points else None

    @property
    def named(self) -> int:
        """How many of those who are wrong made a mistake that has a name."""
        return self.wrong - sum(map(len, self.apart.values()))

    @property
    def how_many_stuck(self) -> int:
        return sum(map(len, self.stuck.values()))

    def shares(self) -> list[int]:
        """How many have how much of the points: see SHARES."""
        counts = [0] * len(SHARES)
        for points in self.points:
            last = len(SHARES) - 1
            full, zero = points >= self.worth, points <= 0 < self.worth
            counts[last if full else 0 if zero else 1 + 4 * points // self.worth] += 1
        return counts


@dataclass
class Report:
    """The report on a run.

    names: what is shown for each student.
    origin: where the submissions were, or "".
    anonymous: names are numbers.
    later: the latest run, if that was cut off and this is an earlier one.
    totals: points of each student whose katas could all be graded.
    done: students who passed everything.
    nothing: students who wrote nothing.
    lost: (student, kata, why it could not be graded).
    waiting: student -> katas that are not judged yet, because the grading was stopped.
    not_run: student -> katas that did not run to their end.
    late: students who handed in late.
    remarks: student -> remarks; without names only what kinds of remarks they are.
    kinds: how many remarks there are of each kind, and how many students are late.
    audited: (student, kata, odd things that the code did).
    alike: code of the same form.
    difference: to an earlier run.
    """

    graded: Graded
    names: dict[str, str]
    origin: str = ""
    anonymous: bool = False
    later: Run | None = None
    katas: list[KataPart] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)
    lost: list[tuple[str, str, str]] = field(default_factory=list)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    not_run: dict[str, list[NotRun]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    audited: list[tuple[str, str, list[v.Notice]]] = field(default_factory=list)
    alike: similarity.Alike = field(default_factory=similarity.Alike)
    difference: regrade.Difference | None = None

    @property
    def run(self) -> Run:
        return self.graded.run

    @property
    def stopped(self) -> bool:
        """The latest run was cut off."""
        return self.later is not None or not self.run.done

    @property
    def worth(self) -> int:
        return sum(self.graded.worth.values())

    @property
    def median(self) -> float | None:
        return statistics.median(self.totals) if self.totals else None

    @property
    def remark_lines(self) -> dict[str, list[str]]:
        """Student -> remarks, the first of which may be that it came late."""
        return {
            student: [words.LATE, *remarks] if student in self.late else remarks
            for student in self.graded.people
            if (remarks := self.remarks.get(student, [])) or student in self.late
        }

    @property
    def top(self) -> list[tuple[KataPart, MisconceptionCount]]:
        """Misconceptions of all katas, the most frequent first."""
        pairs = [(part, entry) for part in self.katas for entry in part.misconceptions]
        return sorted(pairs, key=lambda pair: -len(pair[1].students))

    @property
    def judged_by(self) -> list[str]:
        """Versions of the judge: a line for each combination, the most frequent first."""
        counts = collections.Counter(
            row.facts.versions for row in self.graded.rows if row.facts.versions
        )
        return [
            ", ".join(f"{name} {version}" for name, version in versions)
            for versions, _ in counts.most_common()
        ]

    def by_student(self) -> dict[str, list[Row]]:
        """The rows of each student, in the order in which students are listed."""
        together: dict[str, list[Row]] = {student: [] for student in self.graded.people}
        for row in self.graded.rows:
            together[row.student].append(row)
        return together

    def deciles(self) -> list[tuple[str, int]]:
        """How many have how much of all points, in tenths; full points by themselves."""
        counts = [0] * 11
        for points in self.totals:
            counts[min(10 * points // self.worth, 10) if self.worth else 10] += 1
        labels = [f"{tenth * 10}–{tenth * 10 + 9}" for tenth in range(10)]
        return list(zip([*labels, "100"], counts, strict=True))


def report_on(
    ledger: Ledger, catalog: Catalog, against: Ledger | None = None, hide: bool = False
) -> Report:
    """The report on the last run of a ledger that was not cut off; if all were, on the last.

    against: another ledger, with whose last finished run it is compared; the default is the run
    before in the same ledger.
    hide: numbers for names.
    Raises KataError when there is nothing to report on.
    """
    latest = ledger.last_run()
    run = next((run for run in ledger.runs() if run.done), latest)
    summaries: rows.Summaries = {}
    graded = rows.read(ledger, run, summaries)
    if not graded.people:
        raise KataError(f"the last grading with {ledger.path} reached nobody", "kata grade CLASS")
    before = _before(ledger, graded, against, summaries)
    names = _names(ledger, [graded, *([before] if before else [])], hide)
    order = {student: place for place, student in enumerate(names)}
    for grading in filter(None, (graded, before)):
        grading.people = dict(sorted(grading.people.items(), key=lambda item: order[item[0]]))
        grading.rows.sort(key=lambda row: order[row.student])
    later = latest if latest.id != run.id else None
    report = Report(graded, names, "" if hide else run.origin, hide, later)
    titles = {kata.name: kata.title for kata in catalog.katas}
    _fill(report, titles)
    report.alike = similarity.alike(graded, similarity.own_of(catalog))
    if before is not None:
        report.difference = regrade.compared(before, graded)
    return report


def _before(
    ledger: Ledger, graded: Graded, against: Ledger | None, summaries: rows.Summaries
) -> Graded | None:
    """The run to compare with: not one that was cut off, nor one of other students."""
    if against is not None:
        against.last_run()
        finished = next((run for run in against.runs() if run.done), None)
        if finished is None:
            raise KataError(
                f"every grading with {against.path} was stopped before its end",
                "without --against, or let that one finish first",
            )
        return rows.read(against, finished)
    for earlier in ledger.runs():
        if earlier.id < graded.run.id and earlier.done:
            before = rows.read(ledger, earlier, summaries)
            if before.people.keys() & graded.people.keys():
                return before
    return None


def _names(ledger: Ledger, runs: Iterable[Graded], hide: bool) -> dict[str, str]:
    """The name to show for each id, in the order in which students are listed."""
    people: dict[str, LedgerStudent] = {}
    for graded in runs:
        people = {**graded.people, **people}
    if hide:
        numbers = anonymous.numbers(ledger, people)
        ordered = sorted(people, key=lambda student: numbers[student])
        return {student: f"Student {numbers[student]}" for student in ordered}
    plain = {student: row.student.shown for student, row in people.items()}
    counts = collections.Counter(plain.values())
    names = {
        student: name if counts[name] == 1 else f"{name} ({student})"
        for student, name in plain.items()
    }
    return dict(sorted(names.items(), key=lambda item: (item[1].casefold(), item[0])))


def _fill(report: Report, titles: Mapping[str, str]) -> None:
    by_kata: dict[str, list[Row]] = collections.defaultdict(list)
    for row in report.graded.rows:
        by_kata[row.kata].append(row)
    parts = {
        kata: _part(kata, titles.get(kata, kata), worth, by_kata[kata])
        for kata, worth in report.graded.worth.items()
    }
    report.katas = list(parts.values())
    for student, student_rows in report.by_student().items():
        if student_rows:
            _place(report, parts, student, student_rows)
        groups = not_run.of_student(student_rows, report.anonymous)
        if groups:
            report.not_run[student] = groups
        for row in student_rows:
            _flag(report, row)
    for student, person in report.graded.people.items():
        _remark(report, student, person)


def _place(
    report: Report, parts: dict[str, KataPart], student: str, student_rows: list[Row]
) -> None:
    """How far a student came."""
    if all(row.facts.points is not None for row in student_rows):
        report.totals.append(sum(row.facts.points or 0 for row in student_rows))
    open_ = [row for row in student_rows if row.facts.outcome not in (v.PASSED, v.COULD_NOT_GRADE)]
    if all(row.facts.outcome == v.NOT_STARTED for row in student_rows):
        report.nothing.append(student)
    elif open_:
        first = open_[0]
        parts[first.kata].stuck.setdefault(first.facts.stop, []).append(student)
    elif all(row.facts.outcome == v.PASSED for row in student_rows):
        report.done.append(student)


def _flag(report: Report, row: Row) -> None:
    """What could not be graded or is not judged yet, and odd things that the code did."""
    if row.facts.waiting:
        report.waiting.setdefault(row.student, []).append(row.kata)
    elif row.facts.points is None:
        sentence = anonymous.HIDDEN if report.anonymous else not_run.sentence(row.facts.reason)
        report.lost.append((row.student, row.kata, sentence or "no reason is known"))
    if row.facts.audit:
        report.audited.append((row.student, row.kata, list(row.facts.audit)))


def _remark(report: Report, student: str, person: LedgerStudent) -> None:
    kinds = [words.kind(remark) for remark in person.remarks]
    if person.late:
        report.late.add(student)
        report.kinds[words.LATE] += 1
    report.kinds.update(kinds)
    if kinds:
        sentences = [words.remark(remark) for remark in person.remarks]
        report.remarks[student] = kinds if report.anonymous else sentences


def _part(kata: str, title: str, worth: int, kata_rows: list[Row]) -> KataPart:
    part = KataPart(kata, title, worth)
    part.outcomes.update(row.facts.counted_as for row in kata_rows)
    part.points = [row.facts.points for row in kata_rows if row.facts.points is not None]
    part.wrong = sum(row.facts.wrong for row in kata_rows)
    students: dict[Misconception, list[str]] = {}
    for row in kata_rows:
        for misconception in row.facts.named:
            students.setdefault(misconception, []).append(row.student)
        if row.facts.knowledge in facts.APART:
            part.apart.setdefault(row.facts.knowledge, []).append(row.student)
        part.checks.update(set(row.facts.failing))
    part.misconceptions = [MisconceptionCount(*pair) for pair in students.items()]
    part.misconceptions.sort(key=lambda count: (-len(count.students), count.misconception.id))
    return part


def ordered_by_count(groups: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Groups of students, the largest first."""
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
