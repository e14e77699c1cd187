"""From a failed submission to diagnoses.

A mistake explains a failure when it does what the learner's code did on every recorded call, and
on every further question. Questions are chosen to separate the mistakes that are left; when one is
left it is asked all others too. When none is left, two at once are tried; then properties are
measured, and said in words. Nothing is ever guessed.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch

from attention_katas.authoring import mistakes, probing
from attention_katas.devices import Device
from attention_katas.diagnosis import attribution, equivalence, exceptions, hypotheses
from attention_katas.diagnosis.followup import FollowUp, NoAnswer, listening
from attention_katas.diagnosis.hypotheses import Hypothesis
from attention_katas.errors import CouldNotGrade
from attention_katas.judge import excerpt, failures
from attention_katas.judge.fixtures import Draw, RunContext
from attention_katas.judge.proxy import Call, tensors_in
from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.sandbox.worker import Worker
from attention_katas.verdict import data as v

SYMPTOMS = 3  # as many as one can take in
RANDOM_CALLS = 48
ALL_SECONDS = 5.0  # for all questions to one submission
SECONDS = 2.0  # of the processor, after which nothing more far-fetched is tried


@dataclass
class KnownMistakes:
    """What is known of a kata: its mistakes, and what to ask. Loaded once.

    references and functions: of this and of the earlier katas, by module: the text of the right
    answer, and the names of what it asks for.
    """

    kata: Kata
    reference: ModuleType
    mistakes: ModuleType
    probes: ModuleType | None
    references: dict[str, str]
    functions: dict[str, tuple[str, ...]]

    def axes(self) -> dict[str, str]:
        return dict(getattr(self.probes, "AXES", {}))


@dataclass
class FailedRun:
    """One failed submission: what is known, what was recorded, and how to ask more.

    silent: the process that is asked knows what no learner's code may know, so nothing that it
    answers is shown; made_right: which parts were wrong as well, and are right there. hung:
    functions that gave no answer in time.
    """

    knowledge: KnownMistakes
    submission: Submission
    device: Device
    seed: int
    recorded_calls: list[list[Call]]
    failed: list[Call]
    take: Callable[[Submission], Worker]
    give_back: Callable[[Worker], None]
    until: float
    silent: bool = False
    made_right: tuple[str, ...] = ()
    hung: frozenset[str] = frozenset()

    def probes_of(self, function: str) -> list[probing.Question]:
        """All questions that the kata's probes ask of a function."""
        probes = self.knowledge.probes
        return [
            question
            for probe in (probing.marked(probes, probing.PROBE, function) if probes else ())
            for question in probing.questions(probe(draw_for(self, function, probe.__name__)))
        ]

    def listen(self, submission: Submission) -> Any:
        return listening(
            submission,
            self.knowledge.reference,
            self.device.name,
            self.take,
            self.give_back,
            self.until,
        )


def draw_for(case: FailedRun, function: str, what: str) -> Draw:
    """Inputs of a probe or a symptom: the same at every try with the same seed."""
    text = f"{case.seed}/{case.knowledge.kata.name}/{function}/{what}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
    return Draw(torch.Generator().manual_seed(number), case.device)


def failed_run_of(
    current: RunContext, knowledge: KnownMistakes, take: Callable[[Submission], Worker]
) -> FailedRun:
    """The case that a round through the hidden tests makes."""
    return FailedRun(
        knowledge=knowledge,
        submission=current.submission,
        device=current.device,
        seed=current.seed,
        recorded_calls=current.recorded_calls,
        failed=current.failed,
        take=take,
        give_back=current.give_back,
        until=time.monotonic() + ALL_SECONDS,
        hung=frozenset(current.hung),
    )


def look_for_false_alarms(case: FailedRun) -> list[v.Diagnosis]:
    """What would be said of each function, even though nothing failed: of right code, nothing."""
    with equivalence.quiet():
        return [Diagnoser(case, name).find() for name in case.knowledge.kata.functions]


def diagnose(case: FailedRun) -> list[v.Diagnosis]:
    """A diagnosis for each function of the kata with which a check failed, in their order."""
    kata = case.knowledge.kata
    # One that ran into its time limit would do so again at every question.
    failing = {call.function for call in case.failed} - case.hung
    unwritten = case.submission.unwritten.get(kata.module, frozenset())
    wrong = [name for name in kata.functions if name in failing and name not in unwritten]
    with equivalence.quiet():
        found = []
        for name in wrong:
            try:
                earlier, rest = attribution.find(case, name, wrong[: wrong.index(name)])
                told = earlier or Diagnoser(rest, name).find()
                if rest.made_right:
                    told.symptoms.append(_besides(rest.made_right))
                found.append(told)
            except CouldNotGrade:
                raise
            except Exception as error:  # noqa: BLE001 - ours; the other functions are looked at
                said = f"the cause could not be looked for: {type(error).__name__}: {error}"[:300]
                found.append(v.Diagnosis("", v.NO_DIAGNOSIS, symptoms=[said]))
    return found


class Diagnoser:
    """What is wrong with one function."""

    def __init__(self, case: FailedRun, function: str) -> None:
        self.case, self.name = case, function
        known = case.knowledge
        self.reference = getattr(known.reference, function)
        self.right = Hypothesis((), self.reference)
        self.recorded_calls = [
            [call for call in calls_of_check if call.function == function and _answered(call)]
            for calls_of_check in case.recorded_calls
        ]
        self.recorded_calls = [
            calls_of_check for calls_of_check in self.recorded_calls if calls_of_check
        ]
        self.asked: list[Call] = []
        only = len(known.kata.functions) == 1
        self.known = hypotheses.entries(known.mistakes, function, only)
        self.singles = [one for one in self.known if not one.entries[0].harmless]
        self.randoms = [
            entry
            for entry, _ in mistakes.entries_in(known.mistakes)
            if entry.random and (entry.function == function or (only and not entry.function))
        ]
        self.waiting = probing.marked(known.probes, probing.PROBE, function) if known.probes else []
        self.follow_up: FollowUp | None = None
        self.until = time.process_time() + SECONDS

    def find(self) -> v.Diagnosis:
        with self.case.listen(self.case.submission) as self.follow_up:
            return self._find()

    def _find(self) -> v.Diagnosis:
        left = self._consistent(self.singles)
        while self._choose(left):
            left = self._consistent(left)
        while self.waiting:
            self._put(self.waiting[0])
        left = self._grounded(self._consistent(left))
        if not left and self._at_random():
            return self._noise()
        if not left:
            left = self._several_at_once()
        whole, asked = self.recorded_calls, self.asked
        aside: list[tuple[list[Call], str]] = []
        for leave_out, besides in self._asides():
            if left:
                break
            aside.append(([call for call in self._calls() if leave_out(call)], besides))
            self.recorded_calls = [
                [c for c in calls_of_check if not leave_out(c)]
                for calls_of_check in self.recorded_calls
            ]
            self.asked = [c for c in self.asked if not leave_out(c)]
            left = self._grounded(self._consistent(self.singles)) or self._several_at_once()
        sure = self._one_name(left)
        if sure is not None:
            found = self._named(sure)
            found.symptoms += [
                besides
                for calls, besides in aside
                if any(not sure.agrees(call) and not self.right.agrees(call) for call in calls)
            ]
            return found
        self.recorded_calls, self.asked = whole, asked
        found = self._told_by_symptoms()
        found.undecided = ["+".join(entry.id for entry in one.entries) for one in left]
        return found

    def _asides(self) -> Iterator[tuple[Callable[[Call], bool], str]]:
        """What may be a matter of its own, and is left out when nothing explains it all.

        Each with what is said of it then: what was left out is never hidden.
        """
        yield (
            self._should_refuse,
            "besides, it does not raise ValueError where the contract asks for it",
        )
        yield (
            lambda call: any(
                t.dtype in equivalence.HALF for t in tensors_in((call.args, call.kwargs))
            ),
            "besides, in half precision it does something else",
        )

    def _should_refuse(self, call: Call) -> bool:
        return not call.on_fake_device and self.right.does(call).refused

    # What is known so far

    def _calls(self) -> list[Call]:
        return [
            call for calls_of_check in [*self.recorded_calls, self.asked] for call in calls_of_check
        ]

    def _consistent(self, among: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Those that did the same on every call so far."""
        first = self._telling()
        left = [one for one in among if one.stateful or all(one.agrees(call) for call in first)]
        return [
            one
            for one in left
            if all(
                one.agrees_throughout(calls_of_check)
                for calls_of_check in [*self.recorded_calls, self.asked]
            )
        ]

    def _telling(self) -> list[Call]:
        """A few small calls that the right function answers otherwise: most drop out there."""
        wrong = [
            call for call in self._calls() if call.answer is not None and not call.on_fake_device
        ]
        wrong = sorted(wrong, key=_size)
        return list(itertools.islice((c for c in wrong if not self.right.agrees(c)), 2))

    def _one_name(self, left: Sequence[Hypothesis]) -> Hypothesis | None:
        """The one name that all that is left goes by; None when there are several, or none."""
        by_id = {one.entries[0].id: one.entries[0] for one in self.known}
        names = {
            tuple(by_id.get(entry.same_as, entry) for entry in one.entries): one for one in left
        }
        if len(names) != 1:
            return None
        entries, one = next(iter(names.items()))
        return replace(one, entries=entries)

    def _grounded(self, left: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Those that are needed: no part of them explains as much.

        That two functions raise says little. Where raising is all that speaks for a part, both have
        to complain of the same sizes.
        """
        return [one for one in left if all(self._needed(one, rest) for rest in self._rests(one))]

    def _rests(self, one: Hypothesis) -> list[Hypothesis]:
        """What is left of a hypothesis without one of its mistakes."""
        if len(one.entries) == 1:
            return [self.right]
        by_entry = {known.entries[0].id: known for known in self.known}
        return [by_entry[entry.id] for entry in one.entries if entry.id in by_entry]

    def _needed(self, one: Hypothesis, rest: Hypothesis) -> bool:
        unexplained = [call for call in self._calls() if not rest.agrees(call)]
        if any(
            not equivalence.recorded(call).raised or call.on_fake_device for call in unexplained
        ):
            return True
        if one.stateful:
            return bool(unexplained)
        return bool(unexplained) and all(
            equivalence.same_complaint(equivalence.recorded(call), one.does(call))
            for call in unexplained
        )

    # Asking

    def _choose(self, left: Sequence[Hypothesis]) -> bool:
        """Ask the question that splits best what is left; False when none does."""
        if len(left) < 2 or not self.waiting or self.follow_up is None:
            return False
        best, smallest = None, len(left)
        for probe in self.waiting:
            largest = self._largest_group(left, self._questions(probe))
            if largest < smallest:
                best, smallest = probe, largest
        if best is None:
            return False
        self._put(best)
        return True

    def _largest_group(
        self, left: Sequence[Hypothesis], questions: Sequence[probing.Question]
    ) -> int:
        """How many of what is left would answer alike, at most."""
        calls = [_imagined(self.name, question) for question in questions]
        groups: list[tuple[Hypothesis, int]] = []
        for one in left:
            for place, (other, count) in enumerate(groups):
                if all(equivalence.alike(one.does(call), other.does(call), call) for call in calls):
                    groups[place] = (other, count + 1)
                    break
            else:
                groups.append((one, 1))
        return max(count for _, count in groups)

    def _questions(self, probe: Callable[..., Any]) -> list[probing.Question]:
        return probing.questions(probe(self._draw(probe.__name__)))

    def _put(self, probe: Callable[..., Any]) -> None:
        """Ask the learner's code all questions of a probe."""
        self.waiting.remove(probe)
        if self.follow_up is None:
            return
        for question in self._questions(probe):
            try:
                call = self.follow_up.ask(self.name, question)
                self.asked += [call] if _answered(call) else []
            except NoAnswer:
                self.follow_up = None
                self.waiting.clear()
                return

    def _draw(self, what: str) -> Draw:
        return draw_for(self.case, self.name, what)

    # Chance

    def _at_random(self) -> bool:
        """Whether one and the same question gets ever new answers."""
        base = next((call for call in self._calls() if call.answer is not None), None)
        if base is None or self.follow_up is None or base.on_fake_device:
            return False
        question = probing.Question(base.args, base.kwargs, base.tolerance)
        try:
            answers = [self.follow_up.ask(self.name, question).answer for _ in range(4)]
        except NoAnswer:
            self.follow_up = None
            return False
        return not any(
            one is None or other is None or equivalence.same_answer(one, other, base.tolerance)
            for one, other in itertools.pairwise(answers)
        )

    def _noise(self) -> v.Diagnosis:
        """Answers that differ from call to call: right on average, or not even that."""
        told = "asked the same question again, it gives another answer: something is left to chance"
        # A plain question of some size: the mean of many answers has to say something.
        plain = [c for c in self._calls() if c.answer is not None and not c.on_fake_device]
        exact = [c for c in plain if c.tolerance is None and c.answer.dtype == torch.float64]  # type: ignore[union-attr]
        call = min(exact or plain, key=_size)
        question = probing.Question(call.args, call.kwargs, call.tolerance)
        answers = []
        try:
            for _ in range(RANDOM_CALLS if self.follow_up and self.randoms else 0):
                answer = self.follow_up.ask(self.name, question).answer if self.follow_up else None
                answers += [] if answer is None else [answer.double()]
                if answers and answers[-1].shape != answers[0].shape:
                    break
        except NoAnswer:
            self.follow_up = None
        expected = self.right.does(call).answer
        if len(answers) == RANDOM_CALLS and expected is not None:
            every = torch.stack(answers)
            if every.shape[1:] == expected.shape:
                error = every.std(0) / RANDOM_CALLS**0.5
                off = (every.mean(0) - expected).abs()
                if bool((off <= 6 * error + 1e-6).all()) and len(self.randoms) == 1:
                    entry = self.randoms[0]
                    found = self._named(Hypothesis((entry,), self.reference))
                    return replace(found, explained=RANDOM_CALLS)
        found = self._told_by_symptoms()
        found.symptoms = [told, *found.symptoms][:SYMPTOMS]
        return found

    # Several at once

    def _several_at_once(self) -> list[Hypothesis]:
        if not self._telling():
            return []
        samples = [equivalence.positional(self.reference, call) for call in self._samples()]
        parts = hypotheses.parts(self.known, samples)
        for stage in hypotheses.combinations(parts):
            if time.process_time() > self.until:
                break
            left = self._grounded(self._consistent(stage))
            if left:
                return left
        return []

    def _samples(self) -> list[Call]:
        """One call of each manner of calling, to see what a mistake changes."""
        kinds: dict[str, Call] = {}
        for call in sorted(self._calls(), key=_size):
            kinds.setdefault(call.text, call)
        return list(kinds.values())[:8]

    # Telling

    def _named(self, sure: Hypothesis) -> v.Diagnosis:
        rungs = [title for title, _ in self.case.knowledge.kata.hints()]
        kind = v.MISTAKE if len(sure.entries) == 1 else v.TWO_MISTAKES
        if all(entry.kind == mistakes.CONVENTION for entry in sure.entries):
            kind = v.CONVENTION
        found = v.Diagnosis(self.name, kind, explained=len(self._calls()))
        for entry in sure.entries:
            level = rungs.index(entry.hint) + 1 if entry.hint in rungs else 0
            found.causes.append(v.Cause(entry.id, entry.title, entry.question, entry.hint, level))
        self._show(found)
        found.symptoms = self._exception()
        return found

    def _show(self, found: v.Diagnosis) -> None:
        """The plainest of the answers: the smallest question, two numbers."""
        if self.case.silent:
            return
        for call in sorted(self._calls(), key=_size):
            answer, expected = call.answer, self.right.does(call).answer
            if answer is None or expected is None or answer.shape != expected.shape:
                continue
            if self.right.agrees(call) or call.on_fake_device or not answer.numel():
                continue
            if answer.is_complex() or answer.dtype != expected.dtype:
                continue
            gap = (answer.double() - expected.double()).abs().nan_to_num(nan=float("inf"))
            if not bool((gap > 1e-3 * (1 + expected.double().abs())).any()):
                continue
            at = (gap == gap.max()).nonzero()[0].tolist()
            found.call, found.at = _with_shapes(call), at
            found.yours = excerpt.plain(float(answer[tuple(at)]))
            found.expected = excerpt.plain(float(expected[tuple(at)]))
            return

    def _exception(self) -> list[str]:
        """What the first exception says about the axes that met."""
        if self.case.silent:
            return []
        raised = next((call for call in self.case.failed if call.function == self.name), None)
        if raised is None or raised.raised is None:
            return []
        told = exceptions.explain(raised, self.reference, self.case.knowledge.axes())
        return [told] if told else []

    def _told_by_symptoms(self) -> v.Diagnosis:
        found = v.Diagnosis(self.name, v.SYMPTOMS, symptoms=self._exception())
        found.symptoms += self._symptoms()
        found.symptoms = found.symptoms[:SYMPTOMS]
        if not found.symptoms:
            found.kind = v.NO_DIAGNOSIS
        self._show(found)
        return found

    def _other_dtypes(self) -> list[str]:
        for call in self._calls():
            answer, expected = call.answer, self.right.does(call).answer
            if answer is not None and expected is not None and answer.dtype != expected.dtype:
                return [
                    f"it answers in {_name(answer.dtype)} where {_name(expected.dtype)} is right"
                ]
        return []

    def _symptoms(self) -> list[str]:
        """Which properties are broken, measured on the learner's own answers."""
        probes = None if self.case.silent else self.case.knowledge.probes
        told = self._other_dtypes() if probes else []
        for measure in probing.marked(probes, probing.SYMPTOM, self.name) if probes else ():
            if self.follow_up is None or len(told) >= SYMPTOMS:
                break
            follow_up = self.follow_up
            ask = lambda *a, **k: follow_up.answer(self.name, *a, **k)  # noqa: B023, E731
            try:
                said = measure(ask, self._draw(measure.__name__))
            except NoAnswer:
                self.follow_up = None
            except (failures.CheckFailed, ArithmeticError, LookupError, RuntimeError):
                continue  # what came back cannot be measured in this way
            except (TypeError, ValueError):
                continue
            else:
                # A number that is none says nothing.
                told += [said] if said and not re.search(r"\b(nan|inf)\b", said) else []
        return told


def _in_half(call: Call) -> bool:
    return any(tensor.dtype in equivalence.HALF for tensor in tensors_in((call.args, call.kwargs)))


def _with_shapes(call: Call) -> str:
    """`softmax(x) for x (4, 4)`"""
    parts = [text.partition(")")[0] + ")" for text in call.inputs if "(" in text]
    return f"{call.text} for {', '.join(parts)}" if parts else call.text


def _answered(call: Call) -> bool:
    """Something came back, be it an exception; not of a branch that is not written yet."""
    unwritten = call.raised is not None and call.raised.type == "NotImplementedError"
    return not call.lost and not unwritten


def _besides(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return f"{parts[0]} is wrong as well; see to that first"
    return f"{', '.join(parts[:-1])} and {parts[-1]} are wrong as well; see to them first"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _imagined(function: str, question: probing.Question) -> Call:
    """A question that has not been put yet, to see what hypotheses would answer."""
    call = Call(function, question.args, question.kwargs, "", [], [])
    call.tolerance = question.tolerance
    return call


def _size(call: Call) -> int:
    return sum(tensor.numel() for tensor in tensors_in((call.args, call.kwargs)))
