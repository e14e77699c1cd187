"""A failed submission: what was recorded, what is known of the kata, and how to ask more."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType

import torch

from attention_katas.authoring import probing
from attention_katas.devices import Device
from attention_katas.diagnosis.followup import FollowUp, listening
from attention_katas.judge.fixtures import Draw, RunContext, seed_of
from attention_katas.judge.proxy import Call
from attention_katas.packs.catalog import Kata
from attention_katas.packs.submission import Submission
from attention_katas.sandbox.worker import Worker

ALL_SECONDS = 5.0  # for all questions to one submission


@dataclass
class KnownMistakes:
    """What is known of a kata. Loaded once.

    kata: which one.
    reference: its right answer.
    mistakes: its mistakes.py.
    probes: its probes.py, if it has one.
    references: module name -> text of the right answer, of this and of earlier katas.
    functions: module name -> the functions that its kata asks for.
    """

    kata: Kata
    reference: ModuleType
    mistakes: ModuleType
    probes: ModuleType | None
    references: dict[str, str]
    functions: dict[str, tuple[str, ...]]

    def axes(self) -> dict[str, str]:
        """The names of the axes of each input. See `exceptions.explain`."""
        return dict(getattr(self.probes, "AXES", {}))


@dataclass
class FailedRun:
    """One failed submission.

    knowledge: of its kata.
    recorded_calls: the calls of each check, in order.
    failed: the calls with which checks failed.
    take, give_back: a sandbox worker for a submission, and back.
    until: the time (time.monotonic) after which nothing more is asked.
    silent: reference code is loaded in this worker, so none of its answers may be shown.
    made_right: the parts that were wrong as well and are replaced by right ones here.
    hung: functions that gave no answer in time.
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
            for question in probing.questions(probe(self.draw(function, probe.__name__)))
        ]

    def draw(self, function: str, name: str) -> Draw:
        """Inputs of a probe or a symptom: the same at every try with the same seed."""
        number = seed_of(self.seed, self.knowledge.kata.name, function, name)
        return Draw(torch.Generator().manual_seed(number), self.device)

    def listen(self, submission: Submission) -> AbstractContextManager[FollowUp | None]:
        """Ask a submission more questions, in a sandbox worker of its own."""
        return listening(
            submission,
            self.knowledge.reference,
            self.device.name,
            self.take,
            self.give_back,
            self.until,
        )


def failed_run_of(run: RunContext, knowledge: KnownMistakes) -> FailedRun:
    """The failed run that the judge recorded."""
    return FailedRun(
        knowledge=knowledge,
        submission=run.submission,
        device=run.device,
        seed=run.seed,
        recorded_calls=run.recorded_calls,
        failed=run.failed,
        take=run.take,
        give_back=run.give_back,
        until=time.monotonic() + ALL_SECONDS,
        hung=frozenset(run.hung),
    )
