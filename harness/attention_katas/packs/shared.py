"""`from shared.NAME import ...` in the content of a pack: the shared/ folder of that pack.

Two packs may each have a shared/helpers.py. While a file of a pack is loaded, `shared` means its
own; afterwards the modules stay in sys.modules under a private name.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from attention_katas.packs.pack import FILE, digest_of, files_below

NAME = "shared"
_lock = threading.RLock()


def shared_of(path: Path) -> Path | None:
    """The shared/ folder for a file of a kata; None when its pack shares nothing."""
    pack = path.parent.parent
    folder = pack / NAME
    return folder if (pack / FILE).is_file() and folder.is_dir() else None


@contextlib.contextmanager
def importable(path: Path) -> Iterator[None]:
    """While the file `path` of a kata is loaded, `shared` is the folder of its pack."""
    folder = shared_of(path)
    if folder is None:
        yield
        return
    content = digest_of(folder, files_below(folder))
    place = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    private = f"_kata_shared_{place[:12]}_{content}"
    with _lock:
        before = _moved(NAME, "")
        if not _moved(private, NAME):
            spec = importlib.machinery.ModuleSpec(NAME, None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
            sys.modules[NAME] = importlib.util.module_from_spec(spec)
        try:
            yield
        finally:
            _moved(NAME, private)
            sys.modules.update(before)


def _moved(old: str, new: str) -> dict[str, ModuleType]:
    """Rename a package and its modules in sys.modules; "" takes them out. Returns them."""
    modules = {name: sys.modules[name] for name in list(sys.modules) if _within(name, old)}
    for name, module in modules.items():
        del sys.modules[name]
        if new:
            sys.modules[new + name.removeprefix(old)] = module
    return dict(modules)


def _within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")
