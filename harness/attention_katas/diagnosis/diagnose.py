"""From a failed submission to diagnoses.

A mistake explains a failure when it does what the learner's code did on every recorded call, and
on every further question. Questions are chosen to separate the mistakes that are still possible;
when one is, it is asked all others too. When none is, two at once are tried; then properties are
measured. Nothing is ever guessed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from attention_katas.authoring import mistakes, probing
from attention_katas.diagnosis import attribution, equivalence, exceptions, hypotheses
from attention_katas.diagnosis.failed_run import FailedRun
from attention_katas.diagnosis.followup import FollowUp, NoAnswer
from attention_katas.diagnosis.hypotheses import Hypothesis
from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.judge import excerpt, failures, trees
from attention_katas.judge.fixtures import Draw
from attention_katas.judge.proxy import Call, tensors_in
from attention_katas.verdict import data as v
from attention_katas.verdict import symptoms as s

SYMPTOMS = 3  # as many as one can take in
RANDOM_CALLS = 48
SECONDS = 2.0  # of the processor, after which nothing more far-fetched is tried


def look_for_false_alarms(case: FailedRun) -> list[v.Diagnosis]:
    """A diagnosis for each function, even though nothing failed: of right code it is empty."""
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
        return [_diagnose(case, name, wrong[:place]) for place, name in enumerate(wrong)]


def _diagnose(case: FailedRun, function: str, wrong_before: Sequence[str]) -> v.Diagnosis:
    try:
        earlier, rest = attribution.find(case, function, wrong_before)
        diagnosis = earlier or Diagnoser(rest, function).find()
        if rest.made_right:
            diagnosis.symptoms.append(s.AlsoWrong(rest.made_right))
        return diagnosis
    except CouldNotGrade:
        raise
    except Exception as error:  # noqa: BLE001 - ours; the other functions are looked at
        return fault_of(function, error)


def fault_of(function: str, error: Exception) -> v.Diagnosis:
    """What stands in the place of a diagnosis that an exception of ours ended."""
    kind = "" if isinstance(error, KataError) else type(error).__name__
    fault = v.Fault(kind, str(error)[:300])
    return v.Diagnosis(function, v.NO_DIAGNOSIS, fault=fault)


class Diagnoser:
    """What is wrong with one function."""

    def __init__(self, case: FailedRun, function: str) -> None:
        self.case, self.name = case, function
        knowledge = case.knowledge
        self.reference = getattr(knowledge.reference, function)
        self.right = Hypothesis((), self.reference)
        self.recorded_calls = [
            [call for call in calls_of_check if call.function == function and _answered(call)]
            for calls_of_check in case.recorded_calls
        ]
        self.recorded_calls = [
            calls_of_check for calls_of_check in self.recorded_calls if calls_of_check
        ]
        self.asked: list[Call] = []
        only = len(knowledge.kata.functions) == 1
        self.known = hypotheses.entries(knowledge.mistakes, function, only)
        self.singles = [
            hypothesis for hypothesis in self.known if not hypothesis.entries[0].harmless
        ]
        self.randoms = [
            entry
            for entry, _ in mistakes.entries_in(knowledge.mistakes)
            if entry.random and (entry.function == function or (only and not entry.function))
        ]
        probes = knowledge.probes
        self.waiting = probing.marked(probes, probing.PROBE, function) if probes else []
        self.follow_up: FollowUp | None = None
        self.until = time.process_time() + SECONDS

    def find(self) -> v.Diagnosis:
        with self.case.listen(self.case.submission) as self.follow_up:
            return self._find()

    def _find(self) -> v.Diagnosis:
        possible = self._consistent(self.singles)
        while self._choose(possible):
            possible = self._consistent(possible)
        while self.waiting:
            self._put(self.waiting[0])
        possible = self._grounded(self._consistent(possible))
        if not possible and self._at_random():
            return self._noise()
        if not possible:
            possible = self._several_at_once()
        recorded_calls, asked_calls = self.recorded_calls, self.asked
        aside: list[tuple[list[Call], s.Symptom]] = []
        for leave_out, besides in self._asides():
            if possible:
                break
            aside.append(([call for call in self._calls() if leave_out(call)], besides))
            self.recorded_calls = [
                [call for call in calls_of_check if not leave_out(call)]
                for calls_of_check in self.recorded_calls
            ]
            self.asked = [call for call in self.asked if not leave_out(call)]
            possible = self._grounded(self._consistent(self.singles)) or self._several_at_once()
        sure = self._only_name(possible)
        if sure is not None:
            diagnosis = self._named(sure)
            diagnosis.symptoms += [
                besides
                for calls, besides in aside
                if any(not sure.agrees(call) and not self.right.agrees(call) for call in calls)
            ]
            return diagnosis
        self.recorded_calls, self.asked = recorded_calls, asked_calls
        diagnosis = self._symptoms_only()
        diagnosis.undecided = [
            "+".join(entry.id for entry in hypothesis.entries) for hypothesis in possible
        ]
        return diagnosis

    def _asides(self) -> Iterator[tuple[Callable[[Call], bool], s.Symptom]]:
        """What may be a matter of its own, and is left out when nothing explains it all.

        Each with the symptom that is reported then: what was left out is never hidden.
        """
        yield self._should_refuse, s.RefusesNothing()
        yield _in_half, s.OtherInHalfPrecision()

    def _should_refuse(self, call: Call) -> bool:
        return not call.on_fake_device and self.right.does(call).refused

    # The evidence so far

    def _calls(self) -> list[Call]:
        return [
            call for calls_of_check in [*self.recorded_calls, self.asked] for call in calls_of_check
        ]

    def _consistent(self, among: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Those that did the same on every call so far."""
        first = self._telling()
        possible = [
            hypothesis
            for hypothesis in among
            if hypothesis.stateful or all(hypothesis.agrees(call) for call in first)
        ]
        return [
            hypothesis
            for hypothesis in possible
            if all(
                hypothesis.agrees_throughout(calls_of_check)
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

    def _only_name(self, possible: Sequence[Hypothesis]) -> Hypothesis | None:
        """The hypothesis whose name all possible ones go by; None when there is not just one."""
        by_id = {hypothesis.entries[0].id: hypothesis.entries[0] for hypothesis in self.known}
        names = {
            tuple(by_id.get(entry.same_as, entry) for entry in hypothesis.entries): hypothesis
            for hypothesis in possible
        }
        if len(names) != 1:
            return None
        entries, hypothesis = next(iter(names.items()))
        return replace(hypothesis, entries=entries)

    def _grounded(self, possible: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Those that are needed: no part of them explains as much.

        That two functions raise says little. Where raising is all that speaks for a part, both have
        to complain of the same sizes.
        """
        return [
            hypothesis
            for hypothesis in possible
            if all(self._needed(hypothesis, rest) for rest in self._rests(hypothesis))
        ]

    def _rests(self, hypothesis: Hypothesis) -> list[Hypothesis]:
        """What remains of a hypothesis without one of its mistakes."""
        if len(hypothesis.entries) == 1:
            return [self.right]
        by_entry = {single.entries[0].id: single for single in self.known}
        return [by_entry[entry.id] for entry in hypothesis.entries if entry.id in by_entry]

    def _needed(self, hypothesis: Hypothesis, rest: Hypothesis) -> bool:
        unexplained = [call for call in self._calls() if not rest.agrees(call)]
        if any(
            not equivalence.recorded(call).raised or call.on_fake_device for call in unexplained
        ):
            return True
        if hypothesis.stateful:
            return bool(unexplained)
        return bool(unexplained) and all(
            equivalence.same_complaint(equivalence.recorded(call), hypothesis.does(call))
            for call in unexplained
        )

    # Asking

    def _choose(self, possible: Sequence[Hypothesis]) -> bool:
        """Ask the question that splits best what is still possible; False when none does."""
        if len(possible) < 2 or not self.waiting or self.follow_up is None:
            return False
        best, smallest = None, len(possible)
        for probe in self.waiting:
            largest = self._largest_group(possible, self._questions(probe))
            if largest < smallest:
                best, smallest = probe, largest
        if best is None:
            return False
        self._put(best)
        return True

    def _largest_group(
        self, possible: Sequence[Hypothesis], questions: Sequence[probing.Question]
    ) -> int:
        """How many of what is still possible would answer alike, at most."""
        calls = [_imagined(self.name, question) for question in questions]
        groups: list[tuple[Hypothesis, int]] = []
        for hypothesis in possible:
            for place, (first, count) in enumerate(groups):
                if all(
                    equivalence.alike(hypothesis.does(call), first.does(call), call)
                    for call in calls
                ):
                    groups[place] = (first, count + 1)
                    break
            else:
                groups.append((hypothesis, 1))
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
        return self.case.draw(self.name, what)

    # Chance

    def _at_random(self) -> bool:
        """Whether the same question gets another answer each time."""
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
            before is None
            or after is None
            or equivalence.same_answer(before, after, base.tolerance)
            for before, after in itertools.pairwise(answers)
        )

    def _noise(self) -> v.Diagnosis:
        """Answers that differ from call to call: right on average, or not even that."""
        # A plain question of some size: the mean of many answers has to say something.
        answered = [c for c in self._calls() if c.answer is not None and not c.on_fake_device]
        plain = [call for call in answered if isinstance(call.answer, torch.Tensor)]
        if not plain:
            return self._only_noise()
        exact = [c for c in plain if c.tolerance is None and c.answer.dtype == torch.float64]
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
                    diagnosis = self._named(Hypothesis((self.randoms[0],), self.reference))
                    diagnosis.explained = RANDOM_CALLS
                    return diagnosis
        return self._only_noise()

    def _only_noise(self) -> v.Diagnosis:
        diagnosis = self._symptoms_only()
        diagnosis.symptoms = [s.OtherAnswerEachTime(), *diagnosis.symptoms][:SYMPTOMS]
        return diagnosis

    # Several at once

    def _several_at_once(self) -> list[Hypothesis]:
        if not self._telling():
            return []
        samples = [equivalence.positional(self.reference, call) for call in self._samples()]
        parts = hypotheses.parts(self.known, samples)
        for stage in hypotheses.combinations(parts):
            if time.process_time() > self.until:
                break
            possible = self._grounded(self._consistent(stage))
            if possible:
                return possible
        return []

    def _samples(self) -> list[Call]:
        """One call of each manner of calling, to see what a mistake changes."""
        kinds: dict[str, Call] = {}
        for call in sorted(self._calls(), key=_size):
            kinds.setdefault(call.text, call)
        return list(kinds.values())[:8]

    # The diagnosis

    def _named(self, sure: Hypothesis) -> v.Diagnosis:
        kind: v.DiagnosisKind = v.MISTAKE if len(sure.entries) == 1 else v.TWO_MISTAKES
        if all(entry.kind == mistakes.CONVENTION for entry in sure.entries):
            kind = v.CONVENTION
        diagnosis = v.Diagnosis(self.name, kind, explained=len(self._calls()))
        diagnosis.causes = [self._cause(entry) for entry in sure.entries]
        self._show(diagnosis)
        diagnosis.symptoms = self._exception()
        return diagnosis

    def _cause(self, entry: mistakes.Mistake) -> v.Cause:
        rungs = [title for title, _ in self.case.knowledge.kata.hints()]
        return v.Cause(
            id=entry.id,
            title=entry.title,
            question=entry.question,
            kind=v.CONVENTION if entry.kind == mistakes.CONVENTION else v.MISTAKE,
            hint=entry.hint,
            level=rungs.index(entry.hint) + 1 if entry.hint in rungs else 0,
            shows=entry.shows,
        )

    def _show(self, diagnosis: v.Diagnosis) -> None:
        """Add the plainest of the answers: the smallest question, two numbers."""
        if self.case.silent:
            return
        for call in sorted(self._calls(), key=_size):
            if call.on_fake_device or self.right.agrees(call):
                continue
            for answer, expected in _pairs(call.answer, self.right.does(call).answer):
                at = _clearest(answer, expected)
                if at is None:
                    continue
                diagnosis.call, diagnosis.at = _with_shapes(call), at
                diagnosis.yours = excerpt.cell(answer[tuple(at)])
                diagnosis.expected = excerpt.cell(expected[tuple(at)])
                return

    def _exception(self) -> list[s.Symptom]:
        """What the first exception says about the axes that met."""
        if self.case.silent:
            return []
        raised = next((call for call in self.case.failed if call.function == self.name), None)
        if raised is None or raised.raised is None:
            return []
        symptom = exceptions.explain(raised, self.reference, self.case.knowledge.axes())
        return [symptom] if symptom else []

    def _symptoms_only(self) -> v.Diagnosis:
        symptoms = [*self._exception(), *self._measured()][:SYMPTOMS]
        kind: v.DiagnosisKind = v.SYMPTOMS if symptoms else v.NO_DIAGNOSIS
        diagnosis = v.Diagnosis(self.name, kind, symptoms=symptoms)
        self._show(diagnosis)
        return diagnosis

    def _other_dtypes(self) -> list[s.Symptom]:
        for call in self._calls():
            for answer, expected in _pairs(call.answer, self.right.does(call).answer):
                if answer.dtype != expected.dtype:
                    return [s.OtherDtype(excerpt.dtype_name(answer), excerpt.dtype_name(expected))]
        return []

    def _measured(self) -> list[s.Symptom]:
        """Which properties are broken, measured on the learner's own answers."""
        probes = None if self.case.silent else self.case.knowledge.probes
        symptoms = self._other_dtypes() if probes else []
        for measure in probing.marked(probes, probing.SYMPTOM, self.name) if probes else ():
            if self.follow_up is None or len(symptoms) >= SYMPTOMS:
                break
            symptoms += self._measure(measure, self.follow_up)
        return symptoms

    def _measure(self, measure: Callable[..., Any], follow_up: FollowUp) -> list[s.Symptom]:
        """What one measurement reports; nothing when it cannot be made of these answers."""

        def ask(*args: Any, **kwargs: Any) -> Any:
            return follow_up.answer(self.name, *args, **kwargs)

        try:
            text = measure(ask, self._draw(measure.__name__))
        except NoAnswer:
            self.follow_up = None
            return []
        except (failures.CheckFailed, ArithmeticError, LookupError, RuntimeError):
            return []
        except (TypeError, ValueError):
            return []
        if not text:
            return []
        return [s.Measured(measure.__name__, text, probing.has_values(measure))]


def _pairs(answer: Any, expected: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The tensors of two answers beside each other; none when they are nested differently."""
    if trees.structure(answer) != trees.structure(expected):
        return []
    ordered = tensors_in(trees.in_order_of(answer, expected))
    return list(zip(ordered, tensors_in(expected), strict=True))


def _clearest(answer: torch.Tensor, expected: torch.Tensor) -> list[int] | None:
    """Index of the entry that is furthest off, where it is off enough to be seen; else None.

    The tensors may have any shapes.
    """
    if answer.shape != expected.shape or answer.dtype != expected.dtype or not answer.numel():
        return None
    wide = torch.complex128 if answer.is_complex() else torch.float64
    gap = (answer.to(wide) - expected.to(wide)).abs().nan_to_num(nan=float("inf"))
    if not bool((gap > 1e-3 * (1 + expected.to(wide).abs())).any()):
        return None
    index: list[int] = (gap == gap.max()).nonzero()[0].tolist()
    return index


def _in_half(call: Call) -> bool:
    return any(tensor.dtype in equivalence.HALF for tensor in tensors_in((call.args, call.kwargs)))


def _with_shapes(call: Call) -> str:
    """`softmax(x) for x (4, 4)`"""
    parts = [
        f"{name} {excerpt.shape_text(value)}"
        for name, value in call.arguments
        if isinstance(value, torch.Tensor)
    ]
    return f"{call.text} for {', '.join(parts)}" if parts else call.text


def _answered(call: Call) -> bool:
    """Something came back, be it an exception; not of a branch that is not written yet."""
    unwritten = call.raised is not None and call.raised.type == "NotImplementedError"
    return not call.lost and not unwritten


def _imagined(function: str, question: probing.Question) -> Call:
    """A question that has not been put yet, to see what hypotheses would answer."""
    call = Call(function, question.args, question.kwargs, "", [], [])
    call.tolerance = question.tolerance
    return call


def _size(call: Call) -> int:
    return sum(tensor.numel() for tensor in tensors_in((call.args, call.kwargs)))
