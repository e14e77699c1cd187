"""What to do next: one struct for each step. `verdict.words.steps` has the sentences."""

from __future__ import annotations

from typing import Union

from attention_katas.verdict.facts import Fact


class RunKata(Fact, frozen=True):
    """Judge another kata first."""

    kata: str


class ResetKata(Fact, frozen=True):
    """Write a fresh stub."""

    kata: str


class CheckKata(Fact, frozen=True):
    """Check the files of a kata, for its author."""

    kata: str


class Doctor(Fact, frozen=True):
    """Look at this system. `again`: and then repeat the command."""

    again: bool = False


class AllowWeakSandbox(Fact, frozen=True):
    """Look at this system, or go on without the restrictions that are missing."""


class CloseOtherPrograms(Fact, frozen=True):
    """Free the machine, then judge again."""


class PutBeside(Fact, frozen=True):
    """Put the imported file beside the one that was judged.

    file: the one that was judged.
    """

    file: str


class Advice(Fact, frozen=True):
    """What the error itself advises.

    text: its `next_step`.
    """

    text: str


Step = Union[  # noqa: UP007
    RunKata, ResetKata, CheckKata, Doctor, AllowWeakSandbox, CloseOtherPrograms, PutBeside, Advice
]
