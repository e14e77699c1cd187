"""Loads files of our own: references, mistakes and probes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from attention_katas.errors import CouldNotGrade
from attention_katas.packs import shared


def load_module(path: Path) -> ModuleType:
    """The module in a file of our own. Raises CouldNotGrade when it cannot be loaded.

    It may import its neighbours, as a learner's file may import earlier katas; these leave
    sys.modules again, since their names (`softmax`, `mask`) are not ours to take.
    """
    spec = importlib.util.spec_from_file_location(f"kata_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise CouldNotGrade(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    sys.path.insert(0, str(path.parent))
    try:
        with shared.importable(path):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CouldNotGrade(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(file).parent == path.parent:
                del sys.modules[name]
    return module
