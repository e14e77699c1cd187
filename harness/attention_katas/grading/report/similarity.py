"""Code of the same form: a reason to look, never a proof.

Short functions have the same form by chance, and so has the code that most people write. The other
groups are ordered by how much code is the same; wrong code counts double, since there are many ways
of being wrong and few of being right.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass, field

from attention_katas.grading import entries
from attention_katas.grading.report.rows import Graded, Row
from attention_katas.packs.catalog import Catalog
from attention_katas.verdict import data as v

# A likeness counts from this many nodes of the syntax tree on, beyond those of the stub.
RIGHT_SIZE, WRONG_SIZE = 100, 60
WRONG_COUNTS = 2
# A form that so many have is how it is usually written (or went round the whole class).
COMMON, COMMON_SHARE = 4, 0.05


@dataclass(frozen=True)
class Likeness:
    """One kata that some students have in the same form.

    size: nodes of the syntax tree beyond the stub.
    right: it passes.
    verbatim: the text is the same, too.
    functions: those with the same form, where the rest of the file differs; else all.
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
        return sum(likeness.weight for likeness in self.katas)


@dataclass
class Alike:
    """Groups of students with code of the same form, and how many forms were left out.

    groups: the one with the most code first.
    short: too short to count.
    common: of whole files that more than `most` students have.
    common_functions: of functions that more than `most` students have.
    ours: of the stub or the reference.
    by_function: functions were compared, too.
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
    """Code that everybody has.

    forms: of stub and reference.
    size: of the stub.
    sizes: of the stub's functions, by name.
    """

    forms: frozenset[str] = frozenset()
    size: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)


def own_of(catalog: Catalog) -> dict[str, Own]:
    """Stub and reference of each kata."""
    own = {}
    for kata in catalog.ready:
        sources = [file.read_text(encoding="utf-8") for file in (kata.stub, kata.reference)]
        (stub, size), (reference, _) = map(entries.fingerprint, sources)
        stubs, references = (entries.functions(source, kata.functions) for source in sources)
        parts = [form for _, form, _ in (*stubs, *references)]
        sizes = {name: nodes for name, _, nodes in stubs}
        own[kata.name] = Own(frozenset((stub, reference, *parts)), size, sizes)
    return own


def alike(graded: Graded, own: Mapping[str, Own]) -> Alike:
    """Groups of students with code of the same form."""
    result = Alike(most=max(COMMON, int(COMMON_SHARE * len(graded.people))))
    result.by_function = any(row.entry.functions for row in graded.rows)
    together = _by_file(graded, own, result)
    whole: dict[tuple[str, str], list[set[str]]] = collections.defaultdict(list)
    for students, katas in together.items():
        for likeness in katas:
            for student in students:
                whole[likeness.kata, student].append(set(students))
    for students, likeness in _by_function(graded, own, result):
        groups = whole[likeness.kata, students[0]]
        if not any(group.issuperset(students) for group in groups):
            together[students].append(likeness)
    result.groups = [Group(students, tuple(katas)) for students, katas in together.items()]
    result.groups.sort(key=lambda group: -group.weight)
    return result


def _by_file(
    graded: Graded, own: Mapping[str, Own], result: Alike
) -> dict[tuple[str, ...], list[Likeness]]:
    """Katas whose whole file has the same form, by the students who have it."""
    forms: dict[tuple[str, str], list[Row]] = collections.defaultdict(list)
    for row in graded.rows:
        if row.entry.form and row.facts.outcome != v.NOT_STARTED:
            forms[row.kata, row.entry.form].append(row)
    together: dict[tuple[str, ...], list[Likeness]] = collections.defaultdict(list)
    for (kata, form), rows in forms.items():
        handout = own.get(kata, Own())
        likeness = _likeness(rows, handout.size)
        if len(rows) < 2:
            continue
        if form in handout.forms:
            result.ours += 1
        elif likeness.size < (RIGHT_SIZE if likeness.right else WRONG_SIZE):
            result.short += 1
        elif len(rows) > result.most:
            result.common += 1
        else:
            together[tuple(row.student for row in rows)].append(likeness)
    return together


def _by_function(
    graded: Graded, own: Mapping[str, Own], result: Alike
) -> list[tuple[tuple[str, ...], Likeness]]:
    """Functions of the same form in files that may differ, if they are large enough together.

    Only those that the kata asks for, so that one file with all katas counts once for each kata.
    """
    forms: dict[tuple[str, str, str, int], list[Row]] = collections.defaultdict(list)
    for row in graded.rows:
        if row.facts.outcome != v.NOT_STARTED:
            for name, form, size in row.entry.functions:
                forms[row.kata, name, form, size].append(row)
    shared: dict[tuple[str, tuple[str, ...]], list[tuple[str, int]]] = collections.defaultdict(list)
    right = set()
    for (kata, name, form, size), rows in forms.items():
        handout = own.get(kata, Own())
        beyond = max(size - handout.sizes.get(name, 0), 0)
        if len(rows) < 2 or form in handout.forms:
            continue
        if len(rows) > result.most:
            result.common_functions += beyond >= RIGHT_SIZE
            continue
        students = tuple(row.student for row in rows)
        shared[kata, students].append((name, beyond))
        if any(row.facts.outcome == v.PASSED for row in rows):
            right.add((kata, students))
    likenesses = []
    for (kata, students), parts in shared.items():
        size, passes = sum(nodes for _, nodes in parts), (kata, students) in right
        if size >= (RIGHT_SIZE if passes else WRONG_SIZE):
            names = tuple(name for name, _ in parts)
            likenesses.append((students, Likeness(kata, size, passes, False, names)))
    return likenesses


def _likeness(rows: list[Row], stub: int) -> Likeness:
    right = any(row.facts.outcome == v.PASSED for row in rows)
    verbatim = len({row.entry.source for row in rows}) == 1
    return Likeness(rows[0].kata, max(rows[0].entry.size - stub, 0), right, verbatim)
