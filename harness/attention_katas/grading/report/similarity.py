"""Code of the same form: a reason to look, never a proof.

Short functions come out alike by themselves, and so does what most people write. What is left is
ordered by how much code is alike; wrong code counts double, since there are many ways of being
wrong and few of being right.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass, field

from attention_katas.grading import entries
from attention_katas.grading.report.rows import Graded, Row
from attention_katas.packs.catalog import Catalog
from attention_katas.verdict import data as v

# Nodes of the syntax tree beyond those of the stub, from which on a likeness says something.
RIGHT_SIZE, WRONG_SIZE = 100, 60
WRONG_COUNTS = 2
# A form that so many have is how it is usually written (or went round the whole class).
COMMON, COMMON_SHARE = 4, 0.05


@dataclass(frozen=True)
class Likeness:
    """One kata that some have in the same form. size: beyond the stub. verbatim: to the letter.

    functions: which ones, where the rest of the file is another.
    """

    kata: str
    size: int
    right: bool
    verbatim: bool
    functions: tuple[str, ...] = ()

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
    """groups: the weightiest first. The rest: how many forms were left out, and why.

    by_function: the ledger has functions, too; older ones do not.
    """

    groups: list[Group] = field(default_factory=list)
    short: int = 0
    common: int = 0
    common_functions: int = 0
    ours: int = 0
    most: int = COMMON
    by_function: bool = False


@dataclass(frozen=True)
class Own:
    """What everybody was given: forms of stub and reference, and the stub's size.

    sizes: of the stub's functions, by name.
    """

    forms: frozenset[str] = frozenset()
    size: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)


def own_of(catalog: Catalog) -> dict[str, Own]:
    """What the course itself gives out, by kata."""
    found = {}
    for kata in catalog.ready:
        sources = [file.read_text(encoding="utf-8") for file in (kata.stub, kata.reference)]
        (stub, size), (reference, _) = map(entries.fingerprint, sources)
        stubs, references = (entries.functions(source, kata.functions) for source in sources)
        parts = [form for _, form, _ in (*stubs, *references)]
        sizes = {name: much for name, _, much in stubs}
        found[kata.name] = Own(frozenset((stub, reference, *parts)), size, sizes)
    return found


def looked_for(graded: Graded, own: Mapping[str, Own]) -> Alike:
    """Groups of students with code of the same form."""
    found = Alike(most=max(COMMON, int(COMMON_SHARE * len(graded.people))))
    found.by_function = any(row.entry.functions for row in graded.rows)
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
    whole: dict[tuple[str, str], list[set[str]]] = collections.defaultdict(list)
    for students, katas in together.items():
        for one in katas:
            for student in students:
                whole[one.kata, student].append(set(students))
    for students, one in _by_function(graded, own, found):
        if not any(others.issuperset(students) for others in whole[one.kata, students[0]]):
            together[students].append(one)
    found.groups = [Group(students, tuple(katas)) for students, katas in together.items()]
    found.groups.sort(key=lambda group: -group.weight)
    return found


def _by_function(
    graded: Graded, own: Mapping[str, Own], told: Alike
) -> list[tuple[tuple[str, ...], Likeness]]:
    """Who has functions in the same form, in files that may differ; enough of them, taken together.

    Only those that the kata asks for, so that one file with everything in it counts once a kata.
    """
    forms: dict[tuple[str, str, str, int], list[Row]] = collections.defaultdict(list)
    for row in graded.rows:
        if row.facts.outcome != v.NOT_STARTED:
            for name, form, size in row.entry.functions:
                forms[row.kata, name, form, size].append(row)
    shared: dict[tuple[str, tuple[str, ...]], list[tuple[str, int]]] = collections.defaultdict(list)
    right = set()
    for (kata, name, form, size), rows in forms.items():
        mine = own.get(kata, Own())
        beyond = max(size - mine.sizes.get(name, 0), 0)
        if len(rows) < 2 or form in mine.forms:
            continue
        if len(rows) > told.most:
            told.common_functions += beyond >= RIGHT_SIZE
            continue
        students = tuple(row.student for row in rows)
        shared[kata, students].append((name, beyond))
        if any(row.facts.outcome == v.PASSED for row in rows):
            right.add((kata, students))
    found = []
    for (kata, students), parts in shared.items():
        size, well = sum(much for _, much in parts), (kata, students) in right
        if size >= (RIGHT_SIZE if well else WRONG_SIZE):
            names = tuple(name for name, _ in parts)
            found.append((students, Likeness(kata, size, well, False, names)))
    return found


def _likeness(rows: list[Row], stub: int) -> Likeness:
    right = any(row.facts.outcome == v.PASSED for row in rows)
    verbatim = len({row.entry.source for row in rows}) == 1
    return Likeness(rows[0].kata, max(rows[0].entry.size - stub, 0), right, verbatim)
