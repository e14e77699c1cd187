"""Finds the katas and reads their kata.toml.

A kata is a folder with a `kata.toml`; its order comes from `requires`, never from numbers.
"""

from __future__ import annotations

import difflib
import graphlib
import hashlib
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent, NoSuchKata

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FORMAT = 1
# Every key of kata.toml and its type; `status` is the only one that may be left out.
KEYS: dict[str, type] = {
    "format": int,
    "title": str,
    "blurb": str,
    "requires": list,
    "functions": list,
    "points": int,
    "banned": list,
    "out_of_scope": list,
    "status": str,
}
OPTIONAL = {"status"}
READY, PLANNED = "ready", "planned"


@dataclass(frozen=True)
class Kata:
    """One kata: where its files are and what its kata.toml says."""

    name: str
    folder: Path
    reference: Path
    title: str
    blurb: str
    requires: tuple[str, ...]
    functions: tuple[str, ...]
    points: int
    banned: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    status: str

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def file(self) -> str:
        return f"{self.module}.py"

    @property
    def stub(self) -> Path:
        return self.folder / self.file

    @property
    def tests(self) -> Path:
        return self.folder / f"test_{self.file}"

    @property
    def mistakes(self) -> Path:
        return self.folder / "mistakes.py"

    @cached_property
    def missing(self) -> list[str]:
        """Files without which it cannot be judged, and which are not there."""
        needed = (self.stub, self.tests, self.reference)
        return [path.name for path in needed if not path.is_file()]

    @property
    def ready(self) -> bool:
        """It can be judged: not only planned, and nothing is missing."""
        return self.status == READY and not self.missing

    @property
    def waits_for(self) -> str:
        """Why it is not ready, in words."""
        if self.status == PLANNED:
            return "planned, not in this version yet"
        return f"unfinished: {', '.join(self.missing)} not there yet"

    @cached_property
    def version(self) -> str:
        """A short hash of everything that decides a verdict: not of hints or lessons."""
        digest = hashlib.sha256()
        for path in (self.folder / "kata.toml", self.tests, self.stub, self.reference):
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
        return digest.hexdigest()[:12]

    def hints(self) -> list[tuple[str, str]]:
        """The ladder of hints.md: (title, text) of each rung, in order."""
        return sections(self.folder / "hints.md")

    def lesson(self) -> dict[str, str]:
        """The parts of lesson.md by heading: "Why" and "What carries forward"."""
        return dict(sections(self.folder / "lesson.md"))


def sections(path: Path) -> list[tuple[str, str]]:
    """The second-level sections of a Markdown file: (heading, text)."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    parts = re.split(r"^## +(.+?)\s*$", text, flags=re.MULTILINE)
    return [(parts[i], parts[i + 1].strip()) for i in range(1, len(parts), 2)]


class Catalog:
    """All katas of a content folder, in the order in which they build on each other."""

    def __init__(self, katas: Path, reference: Path) -> None:
        self.folder, self.reference = katas, reference
        found = {path.parent.name: read_kata(path, reference) for path in katas.glob("*/kata.toml")}
        self.katas = [found[name] for name in _in_order(found)]

    def __getitem__(self, name: str) -> Kata:
        """The kata called `name`, however it is spelt. Raises NoSuchKata."""
        base = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
        wanted = base.lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
        for kata in self.katas:
            if kata.name == wanted:
                return kata
        near = difflib.get_close_matches(wanted, [kata.name for kata in self.katas], 1, 0.4)
        if near:
            message = f"there is no kata called {name!r}; did you mean {near[0]!r}?"
            raise NoSuchKata(message, near[0])
        raise NoSuchKata(f"there is no kata called {name!r}")

    @property
    def ready(self) -> list[Kata]:
        return [kata for kata in self.katas if kata.ready]

    @property
    def modules(self) -> dict[str, Kata]:
        """Katas by the module name that other katas import them by."""
        return {kata.module: kata for kata in self.katas}


def content_root() -> Path:
    """The folder that holds katas/ and reference/: the installed package, or the checkout."""
    package = Path(__file__).resolve().parents[1]
    return package if (package / "katas").is_dir() else package.parents[1]


def load_catalog(private: Path | None = None) -> Catalog:
    """The katas that ship, or those of a private set.

    A private set is a folder with katas/ and reference/ in it, or such a katas/ folder itself,
    with reference/ beside it. In an empty folder the former is made.
    """
    root = private or content_root()
    if private is not None and not (root / "katas").is_dir() and any(root.glob("*/kata.toml")):
        return Catalog(root, root.resolve().parent / "reference")
    return Catalog(root / "katas", root / "reference")


def read_kata(path: Path, reference: Path) -> Kata:
    """The kata that a kata.toml describes. Raises BadContent, naming the file and the key."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadContent(f"{path}: not TOML: {error}", "kata dev check") from None
    for problem in problems(data):
        raise BadContent(f"{path}: {problem}", "kata dev check")
    name = path.parent.name
    return Kata(
        name=name,
        folder=path.parent,
        reference=reference / f"{name.replace('-', '_')}.py",
        title=data["title"],
        blurb=data["blurb"],
        requires=tuple(data["requires"]),
        functions=tuple(data["functions"]),
        points=data["points"],
        banned=tuple(data["banned"]),
        out_of_scope=tuple(data["out_of_scope"]),
        status=data.get("status", READY),
    )


def problems(data: dict[str, Any]) -> list[str]:
    """What is wrong with the contents of a kata.toml, in words."""
    found = []
    for key in data.keys() - KEYS.keys():
        near = difflib.get_close_matches(key, KEYS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(KEYS)}"
        found.append(f"unknown key {key!r}; {hint}")
    for key in KEYS.keys() - data.keys() - OPTIONAL:
        found.append(f"the key {key!r} is missing")
    for key, kind in KEYS.items():
        if key in data and type(data[key]) is not kind:
            found.append(f"{key!r} must be a {kind.__name__}, not {data[key]!r}")
    if not found and data["format"] != FORMAT:
        found.append(f"format {data['format']} is not known here; this version reads {FORMAT}")
    if not found and data.get("status", READY) not in (READY, PLANNED):
        found.append(f"'status' is {READY!r} or {PLANNED!r}, not {data['status']!r}")
    return sorted(found)


def _in_order(katas: dict[str, Kata]) -> list[str]:
    """Names so that each comes after what it requires; ties by name. Raises BadContent."""
    for kata in katas.values():
        for name in kata.requires:
            if name not in katas:
                raise BadContent(f"{kata.name}/kata.toml requires {name!r}, which is no kata")
    graph = {name: katas[name].requires for name in sorted(katas)}
    try:
        return list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise BadContent(f"katas require each other in a circle: {error.args[1]}") from None
