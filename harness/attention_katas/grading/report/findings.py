"""What `kata grade report` says, as plain data: how a class did, and what the teacher should see.

Students stand in it by their ids; `Report.names` has what is shown for each.
"""

from __future__ import annotations

import collections
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from attention_katas.errors import KataError
from attention_katas.grading.ledger import Ledger, Noted, Run
from attention_katas.grading.report import anonymous, not_run, regrade, rows, similarity
from attention_katas.grading.report.rows import Graded, Misconception, Row
from attention_katas.packs.catalog import Catalog
from attention_katas.verdict import data as v

LATE = "late"
# What a remark is called where many are counted; any other is called OTHER.
REMARKS = {
    "no kata file": re.compile("no kata file"),
    "a file is there more than once": re.compile(r"is there \d+ times"),
    "an archive was not read": re.compile(r"\bzip\b"),
}
OTHER = "another remark"
# Shares of the points, and what they are called.
SHARES = ("0", "under ¼", "under ½", "under ¾", "under all", "all")


@dataclass(frozen=True)
class Held:
    """A misconception, and who has it."""

    misconception: Misconception
    students: list[str]


@dataclass
class KataPart:
    """How one kata went.

    points: of everybody who could be graded. wrong: who was judged and did not pass. apart: who of
    them made no mistake that has a name, by what is known instead. checks: failing ones by title.
    stuck: students whose first kata that is not passed it is, by where it ends.
    """

    name: str
    title: str
    worth: int
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    points: list[int] = field(default_factory=list)
    wrong: int = 0
    held: list[Held] = field(default_factory=list)
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
            full, none = points >= self.worth, points <= 0 < self.worth
            counts[last if full else 0 if none else 1 + 4 * points // self.worth] += 1
        return counts


@dataclass
class Report:
    """All that is said of a run.

    totals: points of everybody whose katas could all be graded. done: who passed everything.
    nothing: who wrote nothing. lost, audited: student, kata, words. remarks: student -> words.
    origin: where the hand-ins were, or "". later: the latest run, if it was cut off and this is an
    earlier one.
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
    halted: list[not_run.Halt] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    audited: list[tuple[str, str, list[str]]] = field(default_factory=list)
    alike: similarity.Alike = field(default_factory=similarity.Alike)
    difference: regrade.Difference | None = None

    @property
    def run(self) -> Run:
        return self.graded.run

    @property
    def worth(self) -> int:
        return sum(self.graded.worth.values())

    @property
    def median(self) -> float | None:
        return statistics.median(self.totals) if self.totals else None

    @property
    def top(self) -> list[tuple[KataPart, Held]]:
        """Misconceptions of all katas, the most frequent first."""
        found = [(part, held) for part in self.katas for held in part.held]
        return sorted(found, key=lambda pair: -len(pair[1].students))

    @property
    def judged_by(self) -> list[str]:
        """What judged, in words; more than one line where verdicts come from several versions."""
        found = collections.Counter(r.facts.versions for r in self.graded.rows if r.facts.versions)
        return [", ".join(f"{n} {value}" for n, value in told) for told, _ in found.most_common()]

    def by_student(self) -> dict[str, list[Row]]:
        """Everybody's rows, in the order in which people are listed."""
        together: dict[str, list[Row]] = {student: [] for student in self.graded.people}
        for row in self.graded.rows:
            together[row.student].append(row)
        return together

    def remark_counts(self) -> collections.Counter[str]:
        return collections.Counter(kind_of(said) for told in self.remarks.values() for said in told)

    def deciles(self) -> list[tuple[str, int]]:
        """How many have how much of all points, in tenths; full points by themselves."""
        counts = [0] * 11
        for points in self.totals:
            counts[min(10 * points // self.worth, 10) if self.worth else 10] += 1
        labels = [f"{tenth * 10}–{tenth * 10 + 9}" for tenth in range(10)]
        return list(zip([*labels, "100"], counts, strict=True))


def kind_of(remark: str) -> str:
    if remark == LATE:
        return LATE
    return next((kind for kind, words in REMARKS.items() if words.search(remark)), OTHER)


def made(
    ledger: Ledger, catalog: Catalog, against: Ledger | None = None, hide: bool = False
) -> Report:
    """The report on the last run of a ledger that was not cut off; if all were, on the last.

    against: another ledger, whose last run it is compared with; without one that is the run before
    in the same ledger. Neither may have been cut off. hide: students become numbers.
    """
    latest = ledger.last_run()
    run = next((one for one in ledger.runs() if one.done), latest)
    known: rows.Known = {}
    graded = rows.read(ledger, run, known)
    if not graded.people:
        raise KataError(f"the last grading with {ledger.path} reached nobody", "kata grade CLASS")
    before = _before(ledger, graded, against, known)
    names = _names(ledger, [graded, *([before] if before else [])], hide)
    order = {student: place for place, student in enumerate(names)}
    for one in (graded, before):
        if one is not None:
            one.people = dict(sorted(one.people.items(), key=lambda item: order[item[0]]))
            one.rows.sort(key=lambda row: order[row.student])
    later = latest if latest.id != run.id else None
    report = Report(graded, names, "" if hide else run.origin, hide, later)
    titles = {kata.name: kata.title for kata in catalog.katas}
    _fill(report, titles)
    report.alike = similarity.looked_for(graded, similarity.own_of(catalog))
    if before is not None:
        report.difference = regrade.compared(before, graded)
    return report


def _before(
    ledger: Ledger, graded: Graded, against: Ledger | None, known: rows.Known
) -> Graded | None:
    """What to compare with: runs that were cut off are skipped, and those of other people."""
    if against is not None:
        against.last_run()
        finished = next((one for one in against.runs() if one.done), None)
        if finished is None:
            raise KataError(
                f"every grading with {against.path} was stopped before its end",
                "without --against, or let that one finish first",
            )
        return rows.read(against, finished)
    for earlier in ledger.runs():
        if earlier.id < graded.run.id and earlier.done:
            found = rows.read(ledger, earlier, known)
            if found.people.keys() & graded.people.keys():
                return found
    return None


def _names(ledger: Ledger, runs: Iterable[Graded], hide: bool) -> dict[str, str]:
    """What is shown for each id, in the order in which people are listed."""
    people: dict[str, Noted] = {}
    for graded in runs:
        people = {**graded.people, **people}
    if hide:
        numbers = anonymous.numbers(ledger, people)
        ordered = sorted(people, key=lambda student: numbers[student])
        return {student: f"Student {numbers[student]}" for student in ordered}
    shown = {student: noted.student.shown for student, noted in people.items()}
    often = collections.Counter(shown.values())
    names = {
        student: name if often[name] == 1 else f"{name} ({student})"
        for student, name in shown.items()
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
    hide = report.anonymous
    for student, mine in report.by_student().items():
        if mine:
            _place(report, parts, student, mine)
        report.halted += not_run.of_student(mine, hide)
        for row in mine:
            if row.facts.points is None:
                said = row.facts.message or "no reason is known"
                report.lost.append((student, row.kata, anonymous.reason(said) if hide else said))
            if row.facts.audit:
                report.audited.append((student, row.kata, list(row.facts.audit)))
    for student, noted in report.graded.people.items():
        remarks = [*([LATE] if noted.late else []), *noted.remarks]
        if remarks:
            report.remarks[student] = [kind_of(one) for one in remarks] if hide else remarks


def _place(report: Report, parts: dict[str, KataPart], student: str, mine: list[Row]) -> None:
    """How far somebody came."""
    if all(row.facts.points is not None for row in mine):
        report.totals.append(sum(row.facts.points or 0 for row in mine))
    open_ = [row for row in mine if row.facts.outcome not in (v.PASSED, v.COULD_NOT_GRADE)]
    if all(row.facts.outcome == v.NOT_STARTED for row in mine):
        report.nothing.append(student)
    elif open_:
        first = open_[0]
        parts[first.kata].stuck.setdefault(first.facts.stop, []).append(student)
    elif all(row.facts.outcome == v.PASSED for row in mine):
        report.done.append(student)


def _part(kata: str, title: str, worth: int, found: list[Row]) -> KataPart:
    part = KataPart(kata, title, worth)
    part.outcomes.update(row.facts.outcome for row in found)
    part.points = [row.facts.points for row in found if row.facts.points is not None]
    part.wrong = sum(row.facts.wrong for row in found)
    held: dict[Misconception, list[str]] = {}
    for row in found:
        for one in row.facts.named:
            held.setdefault(one, []).append(row.student)
        if row.facts.known in rows.APART:
            part.apart.setdefault(row.facts.known, []).append(row.student)
        part.checks.update(set(row.facts.failing))
    part.held = [Held(one, students) for one, students in held.items()]
    part.held.sort(key=lambda one: (-len(one.students), one.misconception.id))
    return part


def ordered_by_count(groups: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Groups of students, the largest first."""
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
