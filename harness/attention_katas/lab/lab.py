"""The lab as a whole: functions that are alive, threads that compute, verdicts, saves, pages."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from attention_katas.lab import examples
from attention_katas.lab.engine import Engine, numbered
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.judging import Judging
from attention_katas.lab.panels import Panel, panels_of
from attention_katas.lab.processes import Processes
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.progress import Progress
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.sandbox.restrictions import linux
from attention_katas.service.judge_service import JudgeService
from attention_katas.service.local import hidden_paths
from attention_katas.verdict import data as v
from attention_katas.watch.saves import CHANGED, GONE, Save, Saves

Tell = Callable[[dict[str, Any]], None]


class Lab:
    """What all pages share. `tell` callbacks may come from any thread."""

    def __init__(
        self,
        catalog: Catalog,
        space: Workspace,
        service: JudgeService | None,
        progress: Progress,
        *,
        spawn: bool = False,
        poll: bool = False,
    ) -> None:
        """service: what judges beside the pictures; None: nothing does."""
        # Code of the same user cannot look into this process, or dump it.
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        torch.set_num_threads(1)  # the reference is timed as the learner's code is
        self.catalog, self.space = catalog, space
        self.generation = 0
        self._processes = Processes(hidden_paths(catalog), spawn)
        self._drawn = threading.Event()
        self.panels = panels_of(catalog)
        self._engines = [
            Engine(
                name,
                LearnerFunctions(catalog, space, self._processes),
                {panel.name: panel.answer for panel in self.panels if panel.slow == slow},
            )
            for name, slow in (("dragging", False), ("measuring", True))
        ]
        self._judging = (
            Judging(catalog, space, service, progress, self._broadcast, self._drawn)
            if service
            else None
        )
        names = [kata.file for kata in catalog.ready]
        self._saves = Saves(space.root, names, self._saved, poll=poll)
        self._pages: dict[object, Tell] = {}
        self.opened = threading.Event()  # a page has been here
        self._lock = threading.Lock()

    def start(self) -> None:
        for bans in dict.fromkeys(kata.banned for kata in self.catalog.ready):
            self._processes.expect(bans)
        self._saves.start()
        for engine in self._engines:
            engine.start()
        if self._judging:
            self._judging.start()

    def close(self) -> None:
        self._saves.stop()
        for engine in self._engines:
            engine.close()
        if self._judging:
            self._judging.close()
        self._processes.close()

    def join(self, page: object, tell: Tell) -> None:
        """A page has opened: it hears what there is to draw, and of everything that happens."""
        with self._lock:
            self._pages[page] = tell
        self.opened.set()
        verdicts = list(self._judging.verdicts.values()) if self._judging else []
        tell(greeting(self.catalog, self.space, self.panels, self.generation, verdicts))

    def leave(self, page: object) -> None:
        with self._lock:
            self._pages.pop(page, None)
        for engine in self._engines:
            engine.leave(page)

    def ask(self, page: object, text: str, tell: Tell) -> None:
        """A request of a page, as it came: {"panel": ..., "id": ..., "ask": {...}}."""
        request = _read(text)
        if request is None:
            tell({"event": "answer", "unclear": "that is no request"})
            return
        panel = request.get("panel")
        if panel == "echo":  # what bench/lab.py measures the line by
            tell({"event": "answer", "panel": "echo", "id": request.get("id")})
            return
        for engine in self._engines:
            if isinstance(panel, str) and panel in engine.panels:
                engine.ask(page, request, self._drawing(tell))
                return
        words = f"there is no panel {str(panel)[:40]!r}"
        tell({"event": "answer", "id": request.get("id"), "unclear": words})

    def _drawing(self, tell: Tell) -> Tell:
        """`tell`, which also lets the judge begin."""

        def answer(message: dict[str, Any]) -> None:
            tell(message)
            self._drawn.set()

        return answer

    def _saved(self, save: Save) -> None:
        names = save.names(CHANGED) | save.names(GONE)
        if not names:
            return
        for engine in self._engines:
            engine.changed(names)
        self.generation += 1
        self._broadcast({
            "event": "saved",
            "generation": self.generation,
            "files": sorted(names),
            "katas": katas_of(self.catalog, self.space),
        })  # fmt: skip
        if self._judging:
            self._judging.changed(names)

    def _broadcast(self, message: dict[str, Any]) -> None:
        with self._lock:
            pages = list(self._pages.values())
        for tell in pages:
            tell(message)


def _read(text: str) -> dict[str, Any] | None:
    """A request; None when it is none. Deeper nesting than Python reads is none, nor is NaN."""
    try:
        request = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or not isinstance(request.get("ask", {}), dict):
        return None
    number = request.get("id")
    return request if number is None or numbered(number) else None


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def greeting(
    catalog: Catalog,
    space: Workspace,
    panels: Sequence[Panel],
    generation: int,
    verdicts: list[dict[str, Any]],
) -> dict[str, Any]:
    """What a page hears first: all that it needs to draw."""
    return {
        "event": "hello",
        "generation": generation,
        "scene": examples.as_json(),
        "panels": [
            {"name": panel.name, "title": panel.title, "script": panel.file} for panel in panels
        ],
        "katas": katas_of(catalog, space),
        "verdicts": verdicts,
    }


def katas_of(catalog: Catalog, space: Workspace) -> list[dict[str, Any]]:
    """Every kata, and which of its functions are not written yet."""
    return [
        {
            "name": kata.name,
            "title": kata.title,
            "file": kata.file,
            "path": space.shown(kata),
            "functions": kata.functions,
            "unwritten": sorted(_unwritten(catalog, space, kata)),
        }
        for kata in catalog.ready
    ]


def _unwritten(catalog: Catalog, space: Workspace, kata: Kata) -> frozenset[str]:
    found = read_submission(catalog, kata, space.path(kata))
    if isinstance(found, Submission):
        return found.unwritten[kata.module] & set(kata.functions)
    return frozenset(kata.functions if found.outcome == v.NOT_STARTED else ())
