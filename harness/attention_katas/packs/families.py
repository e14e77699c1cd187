"""Families of built-ins that a kata may ban: content of a pack, in its shared/bans.toml.

    [softmax]
    title = "softmax and log-softmax"
    operators = ["aten::softmax.int"]
    python = ["torch.softmax"]

    [softmax.routes]
    short = "torch.softmax(x, -1)"

The sandbox switches the built-ins off (`sandbox.bans`); the judge tries the routes
(`judge.ban_check`).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent
from attention_katas.packs import files

ROUTES = ("short", "full", "slow")
KEYS: dict[str, type] = {"title": str, "operators": list, "python": list, "routes": dict}


@dataclass(frozen=True)
class Family:
    """Built-ins that answer the same question.

    name: what a kata.toml calls it.
    title: completes "PyTorch's built-in ...".
    operators: names in PyTorch's dispatcher.
    python: dotted names of functions that exist only in Python.
    short: routes tried by every judge before its first verdict.
    full: routes tried once for each version of PyTorch and Python.
    slow: as full; these take seconds.
    """

    name: str
    title: str
    operators: tuple[str, ...]
    python: tuple[str, ...]
    short: tuple[str, ...]
    full: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """What a sandbox worker has to know."""
        return {"name": self.name, "operators": self.operators, "python": self.python}


def read_families(path: Path) -> tuple[Family, ...]:
    """The families in a bans.toml; none when there is no such file. Raises BadContent."""
    try:
        data = files.toml_of(files.read_text(path), path)
    except FileNotFoundError:
        return ()
    for name, table in data.items():
        for problem in problems(table):
            raise BadContent(f"{path}: [{name}]: {problem}", "kata dev check")
    return tuple(_family(name, table) for name, table in data.items())


def problems(table: Any) -> list[str]:
    """What is wrong with one family of a bans.toml."""
    if not isinstance(table, dict):
        return ["a family is a table"]
    messages = [f"unknown key {key!r}{near(key, KEYS)}" for key in table.keys() - KEYS.keys()]
    for key, kind in KEYS.items():
        if key not in table:
            messages.append(f"the key {key!r} is missing")
        elif not isinstance(table[key], kind):
            messages.append(f"{key!r} must be a {kind.__name__}, not {table[key]!r}")
    if messages:
        return sorted(messages)
    for key in ("operators", "python"):
        if not all(isinstance(entry, str) for entry in table[key]):
            messages.append(f"{key!r} must hold strings")
    routes = table["routes"]
    messages += [f"unknown key 'routes.{key}'" for key in routes.keys() - set(ROUTES)]
    if not all(isinstance(text, str) for text in routes.values()):
        messages.append("routes must be strings, one route a line")
    elif not routes.get("short", "").strip():
        messages.append("'routes.short' is empty: nothing proves that the ban holds")
    return sorted(messages)


def near(name: str, names: Any) -> str:
    """The end of a message about an unknown name: what was meant, or what there is."""
    matches = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {matches[0]!r}?" if matches else f"; known: {', '.join(names)}"


def _family(name: str, table: dict[str, Any]) -> Family:
    routes = {key: tuple(table["routes"].get(key, "").strip().splitlines()) for key in ROUTES}
    return Family(name, table["title"], tuple(table["operators"]), tuple(table["python"]), **routes)
