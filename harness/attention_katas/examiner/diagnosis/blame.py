"""Whether something that a function builds on is wrong instead of the function itself.

The learner's code runs again with that part replaced by a right one. When the answers are right
then, the part is to blame: that is an experiment, not a guess. The process in which it runs knows
the right part, so nothing that it prints or says goes anywhere; all that is kept of it is whether
its answers were right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from attention_katas import probing
from attention_katas import verdict as v
from attention_katas.examiner.conversation import Call
from attention_katas.examiner.diagnosis import behaviour
from attention_katas.examiner.diagnosis.witness import Silent
from attention_katas.submission import Submission

if TYPE_CHECKING:
    from attention_katas.examiner.diagnosis.inquiry import Case

LOOKED_AT = 6
ASKED_AGAIN = 40


def find(case: Case, function: str, wrong_before: Sequence[str]) -> tuple[v.Diagnosis | None, Case]:
    """The earlier kata, or the earlier function of the same file, that is to blame; else None.

    wrong_before: functions of the same file that are wrong as well. With the case in which to look
    further: when a right part makes a difference, but not all of it, then the one in which the
    part is right. What is found there is named only; no number of it may be told, see above.
    """
    failed = [call for call in case.failed if call.function == function and not call.lost]
    failed = failed[:LOOKED_AT]
    kata = case.knowledge.kata
    parts: list[tuple[str, Sequence[str] | None]] = [
        (module, None)
        for module in case.submission.sources
        if module != kata.module and module in case.knowledge.references
    ]
    parts += [(kata.module, [name]) for name in wrong_before]
    helped: list[tuple[str, Sequence[str] | None]] = []
    for module, names in parts if failed else ():
        replaced = _replaced(case.submission, case, [(module, names)])
        again = _again(case, replaced, failed) if replaced else None
        if again is None:
            continue
        if all(_is_right(case, call) for call in again):
            return _told(function, module, names, len(failed)), case
        if not all(_unmoved(*both) for both in zip(failed, again, strict=True)):
            helped.append((module, names))
    return None, _without(case, function, helped) if helped else case


def _told(function: str, module: str, names: Sequence[str] | None, count: int) -> v.Diagnosis:
    blamed = names[0] if names else module
    return v.Diagnosis(
        function, v.EARLIER_WORK, file=f"{module}.py", blames=blamed, explained=count
    )


def _is_right(case: Case, call: Call) -> bool:
    reference = getattr(case.knowledge.reference, call.function)
    return behaviour.alike(behaviour.recorded(call), behaviour.observed(reference, call), call)


def _unmoved(before: Call, after: Call) -> bool:
    return behaviour.alike(behaviour.recorded(before), behaviour.recorded(after), after)


def _without(case: Case, function: str, parts: Sequence[tuple[str, Sequence[str] | None]]) -> Case:
    """The case as it would be if those parts were right."""
    submission = _replaced(case.submission, case, parts)
    if submission is None:
        return case
    calls = [call for call in case.failed if call.function == function and not call.lost]
    calls += [call for talk in case.talks for call in talk if call.function == function]
    again = _again(
        case, submission, list({id(call): call for call in calls}.values())[:ASKED_AGAIN]
    )
    if again is None:
        return case
    return replace(case, submission=submission, talks=[again], failed=again, silent=True)


def _replaced(
    submission: Submission, case: Case, parts: Sequence[tuple[str, Sequence[str] | None]]
) -> Submission | None:
    """The submission with parts made right: functions of a module (None: all its kata asks for)."""
    sources = dict(submission.sources)
    for module, functions in parts:
        text = case.knowledge.references.get(module)
        names = functions or case.knowledge.functions.get(module, ())
        if text is None or not names:
            return None
        right = f"_right_{module}"
        sources[module] += f"\n\nfrom {right} import {', '.join(names)}\n"
        sources[right] = text
    return replace(submission, sources=sources)


def _again(case: Case, submission: Submission, calls: Sequence[Call]) -> list[Call] | None:
    """The same questions put to another submission; None when not all get an answer."""
    found = []
    with case.listen(submission) as witness:
        if witness is None:
            return None
        for call in calls:
            differentiate = call.upstream is not None
            question = probing.Question(call.args, call.kwargs, call.tolerance, differentiate)
            try:
                found.append(witness.ask(call.function, question, call.elsewhere))
            except Silent:
                return None
    return found
