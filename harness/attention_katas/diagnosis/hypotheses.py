"""The known mistakes of a kata, as functions that can be asked: singly, and several at once."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from attention_katas.authoring import mistakes
from attention_katas.authoring.mistakes import Mistake
from attention_katas.diagnosis import equivalence
from attention_katas.diagnosis.equivalence import Behaviour
from attention_katas.judge.proxy import Call, copy_of, mapped


@dataclass
class Hypothesis:
    """One known mistake, or two at once, with what it does.

    entries: the mistakes.
    function: what they make of the kata's function.
    stateful: it keeps state from call to call, so that all calls of a check have to be repeated.
    """

    entries: tuple[Mistake, ...]
    function: Callable[..., Any]
    stateful: bool = False
    _seen: dict[int, tuple[Call, Behaviour]] = field(default_factory=dict)

    def does(self, call: Call) -> Behaviour:
        """What it does with one question. Cached, together with the question."""
        pair = self._seen.get(id(call))
        if pair is None:
            function = with_fresh_state(self.function) if self.stateful else self.function
            pair = self._seen[id(call)] = call, equivalence.observed(function, call)
        return pair[1]

    def agrees(self, call: Call) -> bool:
        """It does with this question what the learner's code did."""
        return equivalence.alike(equivalence.recorded(call), self.does(call), call)

    def agrees_throughout(self, calls_of_check: Sequence[Call]) -> bool:
        """It agrees with every call of a check, asked in order."""
        if not self.stateful:
            return all(self.agrees(call) for call in calls_of_check)
        fresh = with_fresh_state(self.function)
        return all(
            equivalence.alike(equivalence.recorded(call), equivalence.observed(fresh, call), call)
            for call in calls_of_check
        )


@dataclass
class Part:
    """A hypothesis that does nothing but change parts of the kata's formula.

    changed: names of these parts.
    formula: the kata's right formula.
    """

    hypothesis: Hypothesis
    changed: frozenset[str]
    formula: Callable[..., Any]


def entries(module: ModuleType, function: str, only: bool) -> list[Hypothesis]:
    """All that is known of one function of the kata, the harmless look-alikes too.

    only: it is the kata's only function, which entries need not name.
    """
    return [
        Hypothesis((entry,), wrong, bool(_memories(wrong)))
        for entry, wrong in mistakes.entries_in(module)
        if (entry.function == function or (only and not entry.function)) and not entry.random
    ]


def parts(known: Sequence[Hypothesis], samples: Sequence[tuple[Any, ...]]) -> list[Part]:
    """Those that can be made together with others.

    samples: arguments by which to see what each changes; what it changes in one of them counts.
    """
    candidates = []
    for hypothesis in known:
        changes = []
        for args in () if hypothesis.stateful else samples:
            # Copies: it may write into them.
            changes.append(mistakes.change(hypothesis.function, mapped(args, copy_of)))
        whole = [change for change in changes if change is not None]
        if whole and len(whole) == len(changes):
            changed = frozenset(name for change in whole for name in change.parts)
            candidates.append(Part(hypothesis, changed, whole[0].formula))
    return [part for part in candidates if part.changed]


def combinations(known: Sequence[Part]) -> Iterator[list[Hypothesis]]:
    """Several at once, in stages: each more far-fetched than the one before.

    One mistake in the style of a harmless look-alike (which then goes by the mistake's name); two
    mistakes; two in such a style.
    """
    wrong = [part for part in known if not part.hypothesis.entries[0].harmless]
    named = [part for part in wrong if not part.hypothesis.entries[0].same_as]
    styles = [part for part in known if part.hypothesis.entries[0].harmless]
    two = list(itertools.combinations(named, 2))
    yield _fitting(itertools.product(wrong, styles))
    yield _fitting(two)
    yield _fitting((*pair, style) for pair in two for style in styles)


def _fitting(groups: Iterable[tuple[Part, ...]]) -> list[Hypothesis]:
    """Those groups whose members each change something else, of one formula."""
    fitting = []
    for group in groups:
        changed = [name for part in group for name in part.changed]
        if len(set(changed)) == len(changed) and len({part.formula for part in group}) == 1:
            members = [part.hypothesis.entries[0] for part in group]
            function = mistakes.together(*(part.hypothesis.function for part in group))
            named = tuple(entry for entry in members if not entry.harmless)
            fitting.append(Hypothesis(named, function))
    return fitting


def with_fresh_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it was before any call, with nothing in its memories."""
    if not isinstance(function, types.FunctionType):
        return function
    world = dict(function.__globals__)
    world |= {name: type(world[name])() for name in _memories(function)}
    return types.FunctionType(
        function.__code__, world, function.__name__, function.__defaults__, function.__closure__
    )


def _memories(function: Callable[..., Any]) -> list[str]:
    """The lists, dicts and sets of its module that a function looks at, where they start empty."""
    if not isinstance(function, types.FunctionType):
        return []
    world = function.__globals__
    return [
        name
        for name in function.__code__.co_names
        if type(world.get(name)) in (list, dict, set) and not world[name]
    ]
