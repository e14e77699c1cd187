"""The verdicts beside the pictures: after a save, the judge says what it always says.

In a thread of its own, and on Linux in the daemon's processes: a drag never waits for it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from attention_katas.errors import ProgressUnavailable
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import files_read, read_submission
from attention_katas.packs.progress import Progress
from attention_katas.packs.workspace import Workspace
from attention_katas.service.follow import Follow
from attention_katas.service.judge_service import JudgeService
from attention_katas.verdict import data as v
from attention_katas.verdict import symptoms, words

PATIENCE = 15.0  # seconds until katas are judged though no page was opened


class Judging:
    """Judges every kata once, and then whatever a save has changed; `tell` gets each verdict."""

    def __init__(
        self,
        catalog: Catalog,
        space: Workspace,
        service: JudgeService,
        progress: Progress,
        tell: Callable[[dict[str, Any]], None],
        drawn: threading.Event,
    ) -> None:
        """drawn: set when the first picture is drawn; until then the machine is not kept busy."""
        self.verdicts: dict[str, dict[str, Any]] = {}
        self._catalog, self._space = catalog, space
        self._progress, self._tell, self._drawn = progress, tell, drawn
        self._files: dict[str, set[str]] = {}
        self._follow: Follow[str] = Follow(service, self._judge, begin=lambda: drawn.wait(PATIENCE))
        self._follow.put([kata.name for kata in catalog.ready])

    def start(self) -> None:
        self._follow.start()

    def changed(self, names: set[str]) -> None:
        """These files were saved: judge what depends on them, the saved ones first."""
        katas = [k for k in self._catalog.ready if names & self._files.get(k.name, {k.file})]
        katas.sort(key=lambda kata: kata.file not in names)
        for kata in katas:
            self._publish(kata.name, {"kata": kata.name, "judging": True})
        self._follow.put([kata.name for kata in katas])

    def close(self) -> None:
        self._drawn.set()
        self._follow.close()

    def _judge(self, name: str) -> None:
        kata = self._catalog[name]
        path, shown = self._space.path(kata), self._space.shown(kata)
        reading = read_submission(self._catalog, kata, path, shown)
        self._files[name] = files_read(kata, reading)
        verdict: v.Verdict | None
        if isinstance(reading, v.Verdict):
            verdict = reading
        else:
            verdict = self._follow.judge(reading)
            if verdict is not None:
                with contextlib.suppress(ProgressUnavailable):
                    self._progress.record(verdict, reading.source)
        if verdict is not None and not self._follow.superseded:
            self._publish(name, told(verdict, kata))

    def _publish(self, name: str, message: dict[str, Any]) -> None:
        self.verdicts[name] = message
        self._tell({"event": "verdict", **message})


def told(verdict: v.Verdict, kata: Kata) -> dict[str, Any]:
    """What of a verdict stands beside a picture."""
    first = verdict.first_failure
    raised = verdict.raised or (first.evidence.raised if first and first.evidence else None)
    where = raised.where if raised else None
    return {
        "kata": kata.name,
        "file": kata.file,
        "title": kata.title,
        "outcome": verdict.outcome,
        "passed": verdict.passed,
        "total": verdict.total,
        "message": words.verdict(verdict),
        "check": first.title if first else "",
        "raised": f"{raised.type}: {raised.message}" if raised and raised.type else "",
        "where": f"{where.file}:{where.line}" if where else "",
        "diagnoses": [
            part
            for diagnosis in verdict.diagnoses
            for part in _parts(diagnosis, kata)
            if diagnosis.function
        ],
    }


def _parts(diagnosis: v.Diagnosis, kata: Kata) -> list[dict[str, Any]]:
    """Each cause of a diagnosis by its name, or what is known of the function without one."""
    whole = {
        "function": diagnosis.function,
        "file": kata.file,
        "id": "",
        "question": "",
        "hint": "",
        "shows": "answers",
        "blames": [],
        "also_wrong": _also_wrong(diagnosis),
        "symptoms": [],
    }
    if diagnosis.causes:
        return [{**whole, **_cause(cause, kata)} for cause in diagnosis.causes]
    if diagnosis.kind == v.EARLIER_WORK:
        says = words.headline(diagnosis, diagnosis.file)
        return [{**whole, "says": says, "blames": diagnosis.blames, "file": diagnosis.file}]
    if diagnosis.symptoms:
        sentences = [words.symptom(symptom) for symptom in diagnosis.symptoms]
        return [{**whole, "says": words.headline(diagnosis), "symptoms": sentences}]
    return []


def _cause(cause: v.Cause, kata: Kata) -> dict[str, Any]:
    hint = f"kata hint {kata.name} --level {cause.level}" if cause.level else ""
    return {
        "id": cause.id,
        "says": cause.title,
        "question": cause.question,
        "hint": hint,
        "shows": cause.shows,
        "also_wrong": [],
    }


def _also_wrong(diagnosis: v.Diagnosis) -> list[str]:
    """Earlier functions that are wrong as well."""
    return [
        name
        for symptom in diagnosis.symptoms
        if isinstance(symptom, symptoms.AlsoWrong)
        for name in symptom.functions
    ]
