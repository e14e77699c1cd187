"""The pictures of the lab that a kata shows in: ours by name, or those of its own pack.

A pack brings a picture as lab/NAME.py and lab/NAME.js; see docs/packs.md. They come from packs
alone: nothing that a learner hands in is served or run by the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from attention_katas.packs.catalog import Catalog, Kata

OURS = ("lookup", "width", "sentence", "steps", "wiring", "cost")
NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class PanelFiles:
    """A picture of a pack.

    name: unique in a catalog.
    module: what computes it.
    script: what draws it.
    """

    name: str
    module: Path
    script: Path


def files_of(kata: Kata, name: str) -> PanelFiles:
    lab = kata.pack.lab
    return PanelFiles(name, lab / f"{name}.py", lab / f"{name}.js")


def problems(kata: Kata) -> list[str]:
    """What is wrong with the `panels` of a kata."""
    messages = []
    for name in kata.panels:
        if name in OURS:
            continue
        if not NAME.fullmatch(name):
            messages.append(f"kata.toml: {name!r} in 'panels' is no name: small letters and digits")
            continue
        files = files_of(kata, name)
        for path in (files.module, files.script):
            if not path.is_file():
                messages.append(
                    f"kata.toml: there is no panel {name!r}: neither one of ours "
                    f"({', '.join(OURS)}) nor lab/{path.name} of the pack"
                )
                break
    return messages


def used(catalog: Catalog) -> tuple[list[str], list[PanelFiles]]:
    """Our pictures that the katas show in, in the page's order, and those of packs."""
    names = {name for kata in catalog.ready for name in kata.panels}
    files = {
        name: files_of(kata, name)
        for kata in catalog.ready
        for name in kata.panels
        if name not in OURS and not problems(kata)
    }
    return [name for name in OURS if name in names], list(files.values())
