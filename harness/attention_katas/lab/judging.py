"""The verdicts beside the pictures: after a save, the judge says what it always says.

In a thread of its own, and on Linux in the daemon's processes: a drag never waits for it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from attention_katas.errors import KataError, ProgressUnavailable
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.progress import Progress
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.service.judge_service import Bench, Cancelled
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, symptoms, words
from attention_katas.verdict.unjudged import facts

PATIENCE = 15.0  # seconds until katas are judged though no page was opened


class Judging:
    """Judges every kata once, and then whatever a save has changed; `tell` gets each verdict."""

    def __init__(
        self,
        catalog: Catalog,
        space: Workspace,
        bench: Bench,
        progress: Progress,
        tell: Callable[[dict[str, Any]], None],
        after: threading.Event,
    ) -> None:
        """after: set when the first picture is drawn; until then the machine is not kept busy."""
        self.verdicts: dict[str, dict[str, Any]] = {}
        self._catalog, self._space, self._bench = catalog, space, bench
        self._progress, self._tell = progress, tell
        self._after = after
        self._waiting = [kata.name for kata in catalog.ready]
        self._needs: dict[str, set[str]] = {}
        self._busy = ""
        self._closed = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="judging", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def changed(self, names: set[str]) -> None:
        """These files were saved: judge what depends on them, the saved ones first."""
        with self._news:
            files = {kata.name: kata.file for kata in self._catalog.ready}
            concerned = [n for n, file in files.items() if names & self._needs.get(n, {file})]
            concerned.sort(key=lambda name: files[name] not in names)
            self._waiting = concerned + [n for n in self._waiting if n not in concerned]
            stale = self._busy in concerned
            self._news.notify()
        for name in concerned:
            self._say(name, {"kata": name, "judging": True})
        if stale:
            self._bench.cancel()

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify()
        self._after.set()
        self._bench.cancel()
        self._thread.join(10.0)
        self._bench.close()

    def _work(self) -> None:
        self._after.wait(PATIENCE)
        while True:
            with self._news:
                self._busy = ""
                self._news.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    return
                name = self._busy = self._waiting.pop(0)
            kata = self._catalog[name]
            try:
                verdict = self._judge(kata)
            except Cancelled:
                with self._news:
                    if name not in self._waiting:
                        self._waiting.insert(0, name)
                continue
            with self._news:
                outdated = name in self._waiting
            if not outdated:
                self._say(name, told(verdict, kata))

    def _judge(self, kata: Kata) -> v.Verdict:
        found = read_submission(
            self._catalog, kata, self._space.path(kata), self._space.shown(kata)
        )
        self._needs[kata.name] = {kata.file}
        if not isinstance(found, Submission):
            return found
        imported = found.sources.keys() | found.absent.keys()
        self._needs[kata.name] |= {f"{module}.py" for module in imported}
        try:
            verdict = self._bench.judge(found)
        except KataError as error:
            reason, step = facts(error)
            return v.Verdict(kata.name, v.COULD_NOT_GRADE, reason=reason, next_step=step)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - ours; the next save is to be judged again
            fault = reasons.JudgeFault(type(error).__name__, str(error))
            return v.Verdict(kata.name, v.COULD_NOT_GRADE, reason=fault)
        with contextlib.suppress(ProgressUnavailable):
            self._progress.record(verdict, found.source)
        return verdict

    def _say(self, name: str, what: dict[str, Any]) -> None:
        self.verdicts[name] = what
        self._tell({"event": "verdict", **what})


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
