"""Loads files of our own: references, mistakes and probes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from attention_katas.errors import CouldNotGrade
from attention_katas.packs import shared
from attention_katas.packs.catalog import Kata
from attention_katas.verdict import reasons, steps
from attention_katas.verdict.unjudged import Unjudged


class Unloadable(CouldNotGrade):
    """A file of our own cannot be loaded.

    problem: the exception that says why.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} cannot be loaded: {problem}")
        self.problem = problem


def load_file_of(kata: Kata, path: Path) -> ModuleType:
    """The module in a file of a kata. Raises Unjudged, naming its pack, when it does not load."""
    try:
        return load_module(path)
    except Unloadable as error:
        fact = reasons.PackFileBroken(kata.pack.name, str(path), error.problem[:300])
        raise Unjudged(fact, steps.CheckKata(kata.name)) from error


class References:
    """The references of some katas, loaded ahead.

    One that does not load concerns only its kata.
    """

    def __init__(self, katas: Iterable[Kata]) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._errors: dict[str, Unjudged] = {}
        for kata in katas:
            try:
                self._modules[kata.name] = load_file_of(kata, kata.reference)
            except Unjudged as error:
                self._errors[kata.name] = error

    def of(self, kata: Kata) -> ModuleType:
        """The reference of a kata. Raises Unjudged when it does not load."""
        if kata.name in self._errors:
            raise self._errors[kata.name]
        return self._modules[kata.name]


def load_module(path: Path) -> ModuleType:
    """The module in a file of our own. Raises Unloadable when it cannot be loaded.

    It may import its neighbours, as a learner's file may import earlier katas; these leave
    sys.modules again, since their names (`softmax`, `mask`) are not ours to take.
    """
    spec = importlib.util.spec_from_file_location(f"kata_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Unloadable(path, "it is no Python file")
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    sys.path.insert(0, str(path.parent))
    try:
        with shared.importable(path):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise Unloadable(path, f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == path.parent:
                del sys.modules[name]
    return module
