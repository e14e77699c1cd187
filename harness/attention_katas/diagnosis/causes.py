"""Diagnoses a run that the judge recorded: what `Judge` calls when a submission fails."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from types import ModuleType

from attention_katas.diagnosis import diagnose
from attention_katas.diagnosis.failed_run import KnownMistakes, failed_run_of
from attention_katas.judge.fixtures import RunContext
from attention_katas.judge.modules import load_file_of
from attention_katas.packs.catalog import Kata
from attention_katas.verdict import data as v
from attention_katas.verdict.unjudged import Unjudged


class FindCauses:
    """Diagnoses runs. Mistakes and probes of each kata are loaded once."""

    def __init__(self, modules: Mapping[str, Kata]) -> None:
        """modules: all katas that a submission may import, by module."""
        self._modules = modules
        self._knowledge: dict[str, KnownMistakes] = {}

    def __call__(self, run: RunContext, false_alarms: bool = False) -> list[v.Diagnosis]:
        """A diagnosis for each function that failed. It cannot change the verdict.

        false_alarms: for each function of the kata, whether it failed or not.
        """
        look = diagnose.look_for_false_alarms if false_alarms else diagnose.diagnose
        try:
            knowledge = self.known(run.submission.kata, run.submission.sources)
            return look(failed_run_of(run, knowledge))
        except Exception as error:  # noqa: BLE001 - ours, whatever it is
            return [diagnose.fault_of("", error)]

    def expect(self, kata: Kata) -> None:
        """Load what is needed for runs of this kata.

        A file that does not load is reported in the place of each diagnosis.
        """
        with contextlib.suppress(Unjudged):
            self.known(kata)

    def known(self, kata: Kata, modules: Collection[str] = ()) -> KnownMistakes:
        """What is known of a kata.

        modules: of the earlier katas that a submission imports.
        """
        knowledge = self._knowledge.get(kata.name) or _load(kata)
        self._knowledge[kata.name] = knowledge
        for module in set(modules) - knowledge.references.keys():
            earlier = self._modules.get(module)
            if earlier is not None and earlier.reference.is_file():
                knowledge.references[module] = earlier.reference.read_text(encoding="utf-8")
                knowledge.functions[module] = earlier.functions
        return knowledge


def _load(kata: Kata) -> KnownMistakes:
    probes = kata.folder / "probes.py"
    return KnownMistakes(
        kata=kata,
        reference=load_file_of(kata, kata.reference),
        mistakes=(
            load_file_of(kata, kata.mistakes) if kata.mistakes.exists() else ModuleType("none")
        ),
        probes=load_file_of(kata, probes) if probes.exists() else None,
        references={},
        functions={},
    )
