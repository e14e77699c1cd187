"""The difference between two gradings of a class: whose grade changed though the code did not."""

from __future__ import annotations

from dataclasses import dataclass, field

from attention_katas.grading.report import facts as f
from attention_katas.grading.report.rows import Graded, Row


@dataclass(frozen=True)
class Change:
    """One kata of one student in two gradings.

    before, now: points; None if it could not be graded.
    why: what else differs between the two.
    """

    student: str
    kata: str
    before: int | None
    now: int | None
    worth: int
    why: tuple[f.Explanation, ...] = ()

    @property
    def less(self) -> bool:
        return self.now is None or (self.before is not None and self.now < self.before)


@dataclass
class Difference:
    """How a grading differs from an earlier one.

    same_code: other points for the same code, or none any more.
    revalued: other points only because the kata has another worth.
    graded_now: could not be graded before.
    resubmitted: the code, or what it imports, is another one.
    newcomers, missing: ids of students.
    katas_new, katas_gone: names of katas.
    same: how many katas of students have the same points for the same code.
    waiting: how many were not judged in one of the two, because it was stopped.
    """

    before: Graded
    same_code: list[Change] = field(default_factory=list)
    revalued: list[Change] = field(default_factory=list)
    graded_now: list[Change] = field(default_factory=list)
    resubmitted: list[Change] = field(default_factory=list)
    newcomers: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    katas_new: list[str] = field(default_factory=list)
    katas_gone: list[str] = field(default_factory=list)
    same: int = 0
    waiting: int = 0


def compared(before: Graded, now: Graded) -> Difference:
    """The difference between two gradings, of students with the same ids."""
    difference = Difference(before)
    difference.newcomers = [student for student in now.people if student not in before.people]
    difference.missing = [student for student in before.people if student not in now.people]
    difference.katas_new = [kata for kata in now.worth if kata not in before.worth]
    difference.katas_gone = [kata for kata in before.worth if kata not in now.worth]
    earlier = {(row.student, row.kata): row for row in before.rows}
    for row in now.rows:
        old = earlier.get((row.student, row.kata))
        if old is not None:
            _sort_in(difference, old, row)
    difference.same_code.sort(key=lambda c: (not c.less, (c.now or 0) - (c.before or 0)))
    return difference


def _sort_in(difference: Difference, old: Row, new: Row) -> None:
    before, now = old.facts.points, new.facts.points
    if old.facts.waiting or new.facts.waiting:
        difference.waiting += 1
        return
    same = same_code(old, new)
    why = explanations(old, new) if same else ()
    change = Change(new.student, new.kata, before, now, new.entry.worth, why)
    if not same:
        difference.resubmitted.append(change)
    elif before == now:
        difference.same += 1
    elif before is None:
        difference.graded_now.append(change)
    elif old.entry.worth != new.entry.worth and _judged_alike(old, new):
        difference.revalued.append(change)
    else:
        difference.same_code.append(change)


def _judged_alike(old: Row, new: Row) -> bool:
    a, b = old.facts, new.facts
    return (a.outcome, a.passed, a.total) == (b.outcome, b.passed, b.total)


def same_code(old: Row, new: Row) -> bool:
    """Whether two rows judge the same code, and the same imports.

    Comments and layout are no part of the judge's hash. Where it made none, the text decides.
    """
    if old.facts.code and new.facts.code:
        return old.facts.code == new.facts.code
    return old.entry.source == new.entry.source


def explanations(old: Row, new: Row) -> tuple[f.Explanation, ...]:
    """Differences between two gradings of the same code."""
    a, b = old.facts, new.facts
    differences: list[f.Explanation] = []
    if old.entry.worth != new.entry.worth:
        differences.append(f.OtherWorth(old.entry.worth, new.entry.worth))
    if a.kata_version != b.kata_version:
        differences.append(f.OtherTests())
    earlier, later = dict(a.versions), dict(b.versions)
    for name in sorted(earlier.keys() & later.keys()):
        if earlier[name] != later[name]:
            differences.append(f.OtherVersion(name, earlier[name], later[name]))
    if a.seed != b.seed:
        differences.append(f.OtherInputs())
    if a.outcome != b.outcome:
        differences.append(f.OtherOutcome(a.outcome, b.outcome))
    return tuple(differences) or (f.NothingDiffers(),)
