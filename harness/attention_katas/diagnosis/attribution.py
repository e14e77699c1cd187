"""Whether something that a function builds on is wrong instead of the function itself.

The learner's code runs again with that part replaced by a right one. When the answers are right
then, the part is at fault: that is an experiment, not a guess. The sandbox worker in which it runs
has the right part loaded, so nothing that it prints or answers is shown; only whether its answers
were right is used.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from attention_katas.authoring import probing
from attention_katas.diagnosis import equivalence
from attention_katas.diagnosis.failed_run import FailedRun
from attention_katas.diagnosis.followup import NoAnswer
from attention_katas.judge.proxy import Call
from attention_katas.packs.submission import Submission
from attention_katas.verdict import data as v

# A module, and functions of it; None: all that its kata asks for.
Part = tuple[str, Sequence[str] | None]
LOOKED_AT = 6
ASKED_AGAIN = 60


def find(
    case: FailedRun, function: str, wrong_before: Sequence[str]
) -> tuple[v.Diagnosis | None, FailedRun]:
    """The diagnosis that blames earlier work, or None; and the run in which to look further.

    wrong_before: functions of the same file that are wrong as well.

    When a right part makes a difference, but not all of it, then the run to look further in is the
    one with the right part. It is silent, see above.
    """
    failed = [call for call in case.failed if call.function == function and not call.lost]
    failed = failed[:LOOKED_AT]
    kata = case.knowledge.kata
    parts: list[Part] = [
        (module, None)
        for module in case.submission.sources
        if module != kata.module and module in case.knowledge.references
    ]
    parts += [(kata.module, [name]) for name in wrong_before]
    helped, replaced, again = _that_help(case, parts, [], failed), None, None
    while helped:
        replaced = _replaced(case.submission, case, helped)
        again = _everything(case, function, replaced) if replaced else None
        if replaced is None or not again:
            return None, case
        wrong_calls = [call for call in again if not _is_right(case, call)]
        if not wrong_calls:
            return _earlier_work(function, helped, len(again)), case
        # What is still wrong may be the doing of a part that made no difference before.
        more = _that_help(case, parts, helped, wrong_calls[:LOOKED_AT])
        if not more:
            break
        helped = helped + more
    if replaced is None or again is None:
        return None, case
    wrong = tuple(names[0] if names else module for module, names in helped)
    return None, replace(
        case,
        submission=replaced,
        recorded_calls=[again],
        failed=again,
        silent=True,
        made_right=wrong,
    )


def _that_help(
    case: FailedRun, parts: Sequence[Part], already: list[Part], failed: Sequence[Call]
) -> list[Part]:
    """The parts whose correction, beside those in `already`, changes an answer.

    Only one part when its correction makes all answers right.
    """
    helped: list[Part] = []
    for part in parts if failed else ():
        if part in already:
            continue
        replaced = _replaced(case.submission, case, [*already, part])
        again = _again(case, replaced, failed) if replaced else None
        if again is None or all(_unmoved(*pair) for pair in zip(failed, again, strict=True)):
            continue
        helped.append(part)
        if all(_is_right(case, call) for call in again):
            return [part]
    return helped


def _earlier_work(function: str, parts: Sequence[Part], count: int) -> v.Diagnosis:
    return v.Diagnosis(
        function,
        v.EARLIER_WORK,
        blames=[names[0] if names else module for module, names in parts],
        file=f"{parts[0][0]}.py",
        explained=count,
    )


def _is_right(case: FailedRun, call: Call) -> bool:
    reference = getattr(case.knowledge.reference, call.function)
    return equivalence.alike(
        equivalence.recorded(call), equivalence.observed(reference, call), call
    )


def _unmoved(before: Call, after: Call) -> bool:
    return equivalence.alike(equivalence.recorded(before), equivalence.recorded(after), after)


def _everything(case: FailedRun, function: str, submission: Submission) -> list[Call]:
    """All recorded questions about a function, and its probes, put to another submission.

    Nothing when it falls silent.
    """
    calls = [call for call in case.failed if call.function == function and not call.lost]
    calls += [
        call
        for calls_of_check in case.recorded_calls
        for call in calls_of_check
        if call.function == function
    ]
    distinct = list({id(call): call for call in calls}.values())
    return _again(case, submission, distinct[:ASKED_AGAIN], case.probes_of(function)) or []


def _only(text: str, names: Sequence[str]) -> str:
    """A reference with those of its public functions alone: the others are nobody's business."""
    tree = ast.parse(text)
    tree.body = [
        node
        for node in tree.body
        if not isinstance(node, ast.FunctionDef) or node.name in names or node.name.startswith("_")
    ]
    return ast.unparse(tree)


def _replaced(submission: Submission, case: FailedRun, parts: Sequence[Part]) -> Submission | None:
    """The submission with parts made right: functions of a module (None: all its kata asks for)."""
    sources = dict(submission.sources)
    for module, functions in parts:
        text = case.knowledge.references.get(module)
        names = functions or case.knowledge.functions.get(module, ())
        if text is None or not names:
            return None
        right = f"_right_{module}_{len(sources)}"
        sources[module] += f"\n\nfrom {right} import {', '.join(names)}\n"
        sources[right] = _only(text, names)
    return replace(submission, sources=sources)


def _again(
    case: FailedRun,
    submission: Submission,
    calls: Sequence[Call],
    more: Sequence[probing.Question] = (),
) -> list[Call] | None:
    """The same questions, and more, put to another submission; None when not all get an answer."""
    calls_again = []
    with case.listen(submission) as follow_up:
        if follow_up is None:
            return None
        for call in calls:
            differentiate = call.upstreams is not None
            question = probing.Question(call.args, call.kwargs, call.tolerance, differentiate)
            try:
                calls_again.append(follow_up.ask(call.function, question, call.on_fake_device))
            except NoAnswer:
                return None
        for question in more:
            try:
                calls_again.append(follow_up.ask(calls[0].function, question))
            except NoAnswer:
                return None
    return calls_again
