"""Code of the same form: a reason to look, never a proof.

Short functions come out alike by themselves, and so does what most people write. What is left is
ordered by how much code is alike; wrong code counts double, since there are many ways of being
wrong and few of being right.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass, field

from attention_katas import verdict as v
from attention_katas.catalog import Catalog
from attention_katas.grading import tasks
from attention_katas.grading.report.rows import Graded, Row

# Nodes of the syntax tree beyond those of the stub, from which on a likeness says something.
RIGHT_SIZE, WRONG_SIZE = 100, 60
WRONG_COUNTS = 2
# A form that so many have is how it is usually written (or went round the whole class).
COMMON, COMMON_SHARE = 4, 0.05


@dataclass(frozen=True)
class Likeness:
    """One kata that some have in the same form. size: beyond the stub. verbatim: to the letter."""

    kata: str
    size: int
    right: bool
    verbatim: bool

    @property
    def weight(self) -> int:
        return self.size * (1 if self.right else WRONG_COUNTS)


@dataclass(frozen=True)
class Group:
    """Students whose code is alike in some katas."""

    students: tuple[str, ...]
    katas: tuple[Likeness, ...]

    @property
    def weight(self) -> int:
        return sum(one.weight for one in self.katas)


@dataclass
class Alike:
    """groups: the weightiest first. The rest: how many forms were left out, and why."""

    groups: list[Group] = field(default_factory=list)
    short: int = 0
    common: int = 0
    ours: int = 0
    most: int = COMMON


@dataclass(frozen=True)
class Own:
    """What everybody was given: forms of stub and reference, and the stub's size."""

    forms: frozenset[str] = frozenset()
    size: int = 0


def own_of(catalog: Catalog) -> dict[str, Own]:
    """What the course itself gives out, by kata."""
    found = {}
    for kata in catalog.ready:
        stub, size = tasks.fingerprint(kata.stub.read_text(encoding="utf-8"))
        reference, _ = tasks.fingerprint(kata.reference.read_text(encoding="utf-8"))
        found[kata.name] = Own(frozenset((stub, reference)), size)
    return found


def looked_for(graded: Graded, own: Mapping[str, Own]) -> Alike:
    """Groups of students with code of the same form."""
    found = Alike(most=max(COMMON, int(COMMON_SHARE * len(graded.people))))
    forms: dict[tuple[str, str], list[Row]] = collections.defaultdict(list)
    for row in graded.rows:
        if row.entry.form and row.facts.outcome != v.NOT_STARTED:
            forms[row.kata, row.entry.form].append(row)
    together: dict[tuple[str, ...], list[Likeness]] = collections.defaultdict(list)
    for (kata, form), rows in forms.items():
        mine = own.get(kata, Own())
        one = _likeness(rows, mine.size)
        if len(rows) < 2:
            continue
        if form in mine.forms:
            found.ours += 1
        elif one.size < (RIGHT_SIZE if one.right else WRONG_SIZE):
            found.short += 1
        elif len(rows) > found.most:
            found.common += 1
        else:
            together[tuple(row.student for row in rows)].append(one)
    found.groups = [Group(students, tuple(katas)) for students, katas in together.items()]
    found.groups.sort(key=lambda group: -group.weight)
    return found


def _likeness(rows: list[Row], stub: int) -> Likeness:
    right = any(row.facts.outcome == v.PASSED for row in rows)
    verbatim = len({row.entry.source for row in rows}) == 1
    return Likeness(rows[0].kata, max(rows[0].entry.size - stub, 0), right, verbatim)
