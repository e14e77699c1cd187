"""Packs that pip has installed: entry points of the group `attention_katas.packs`.

    [project.entry-points."attention_katas.packs"]
    my-pack = "my_package"           # the folder of the package is the pack
    my-pack = "my_package:katas"     # or a folder in it

A folder is looked up, never imported: to list a pack runs none of its code. The current folder is
not searched, since it may be somebody's submission.
"""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attention_katas.errors import BadContent
from attention_katas.packs.names import trusted_path

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "attention_katas.packs"
VALUE = re.compile(r"(?P<module>\w+(?:\.\w+)*)\s*(?::\s*(?P<inside>\w+(?:\.\w+)*))?")


def entry_points(group: str = GROUP) -> list[EntryPoint]:
    """The entry points of a group, by name.

    A distribution whose entry_points.txt cannot be read has one entry in the list, with the name
    of the distribution and no value.
    """
    path = [entry for entry in trusted_path() if _declares(entry, group)]
    if not path:
        return []
    from importlib import metadata  # takes longer than to look whether it is needed

    entries = {
        (entry.name, entry.value): entry
        for distribution in metadata.distributions(path=path)
        for entry in _entries_of(distribution, group)
    }
    return [entries[key] for key in sorted(entries)]


def _entries_of(distribution: Distribution, group: str) -> list[EntryPoint]:
    from importlib.metadata import EntryPoint

    try:
        return [entry for entry in distribution.entry_points if entry.group == group]
    except (OSError, ValueError, TypeError):  # what the reader of importlib.metadata raises
        return [EntryPoint(distribution.metadata["Name"] or "without a name", "", group)]


def _declares(folder: str, group: str) -> bool:
    """Whether a distribution in a folder of sys.path has an entry point of the group."""
    files = Path(folder).glob("*-info/entry_points.txt")
    return any(
        group in file.read_text("utf-8", errors="replace") for file in files if _is_open(file)
    )


def _is_open(file: Path) -> bool:
    return file.is_file() and os.access(file, os.R_OK)


def folder_of(entry: EntryPoint) -> Path:
    """The folder that an entry point names. Raises BadContent when it names none."""
    if not entry.value:
        raise BadContent("its entry_points.txt cannot be read")
    match = VALUE.fullmatch(entry.value)
    if match is None:
        raise BadContent(f"{entry.value!r} is not MODULE or MODULE:FOLDER")
    top, *rest = match["module"].split(".")
    folder = _package(top).joinpath(*rest, *(match["inside"] or "").split("."))
    if not folder.is_dir():
        raise BadContent(f"{entry.value!r} names no folder: {folder} is not there")
    return folder


def _package(name: str) -> Path:
    """The folder of a top-level package, without importing it."""
    spec = importlib.machinery.PathFinder.find_spec(name, trusted_path())
    # An editable installation has a finder of its own.
    for finder in sys.meta_path if spec is None else ():
        look = getattr(finder, "find_spec", None)
        if finder is not importlib.machinery.PathFinder and look is not None:
            spec = spec or look(name, None)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if spec is None:
        raise BadContent(f"there is no module {name!r}")
    if not places:
        raise BadContent(f"{name!r} is a module, not a package with a folder")
    return Path(places[0])
