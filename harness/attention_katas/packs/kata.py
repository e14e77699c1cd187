"""A kata: a folder with a kata.toml, which is read strictly and explained kindly."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent
from attention_katas.packs import files
from attention_katas.packs.families import Family, near
from attention_katas.packs.pack import NAME, Pack

FORMAT = 1
# Every key of kata.toml and its type; those in OPTIONAL may be left out.
KEYS: dict[str, type] = {
    "format": int,
    "title": str,
    "blurb": str,
    "requires": list,
    "functions": list,
    "points": int,
    "banned": list,
    "out_of_scope": list,
    "panels": list,
    "status": str,
}
OPTIONAL = {"panels", "status"}
READY, PLANNED = "ready", "planned"


@dataclass(frozen=True)
class Kata:
    """One kata: where its files are and what its kata.toml says.

    name: the folder's name; unique among all packs.
    pack: the pack that it belongs to.
    folder: where its files are.
    reference: the file of the reference solution.
    title, blurb: for people.
    requires: names of katas that come before it, of any pack.
    functions: what a learner writes.
    points: what it is worth.
    banned: the built-ins that are switched off.
    out_of_scope: what is not judged, in words.
    panels: the pictures of the lab that it shows in.
    status: READY or PLANNED.
    """

    name: str
    pack: Pack
    folder: Path
    reference: Path
    title: str
    blurb: str
    requires: tuple[str, ...]
    functions: tuple[str, ...]
    points: int
    banned: tuple[Family, ...]
    out_of_scope: tuple[str, ...]
    panels: tuple[str, ...]
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

    @property
    def probes(self) -> Path:
        return self.folder / "probes.py"

    @property
    def key(self) -> str:
        """What its progress is kept under: it stays the same when the pack moves."""
        return self.name if self.pack.ships else f"{self.pack.name}/{self.name}"

    @cached_property
    def missing(self) -> list[str]:
        """Files without which it cannot be judged, and which are not there."""
        files = (self.stub, self.tests, self.reference)
        return [f"{path.parent.name}/{path.name}" for path in files if not path.is_file()]

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
        digest = hashlib.sha256(f"{self.pack.shared_digest} {self.banned}".encode())
        toml = self.folder / "kata.toml"
        for path in (toml, self.tests, self.stub, self.reference, self.mistakes, self.probes):
            content = path.read_bytes() if path.is_file() else b""
            digest.update(path.name.encode() + b"\0" + content.replace(b"\r\n", b"\n") + b"\0")
        return digest.hexdigest()[:12]

    def hints(self) -> list[tuple[str, str]]:
        """The ladder of hints.md: (title, text) of each level, in order."""
        return sections(self.folder / "hints.md")

    def lesson(self) -> dict[str, str]:
        """The parts of lesson.md by heading: "Why" and "What carries forward"."""
        return dict(sections(self.folder / "lesson.md"))


def sections(path: Path) -> list[tuple[str, str]]:
    """The second-level sections of a Markdown file: (heading, text). Raises BadContent."""
    try:
        text = files.read_text(path)
    except FileNotFoundError:
        return []
    parts = re.split(r"^## +(.+?)\s*$", text, flags=re.MULTILINE)
    return [(parts[i], parts[i + 1].strip()) for i in range(1, len(parts), 2)]


def read_kata(path: Path, pack: Pack, families: Mapping[str, Family]) -> Kata:
    """The kata that a kata.toml describes. Raises BadContent, naming the file and the key.

    families: those that it may ban, by name.
    """
    try:
        text = files.read_text(path)
        data = files.toml_of(text, path)
    except FileNotFoundError:
        raise BadContent(f"{path} is not there") from None
    name = path.parent.name
    messages = name_problems(name) or problems(data)
    if messages:
        raise BadContent(f"{path}: {'; '.join(messages)}", "kata dev check")
    for family in data["banned"]:
        if family not in families:
            line = _line_of("banned", text)
            raise BadContent(
                f"{path}:{line}: bans {family!r}, which is no family of built-ins"
                f"{near(family, families)}",
                "declare it in shared/bans.toml, or take one that is known",
            )
    return Kata(
        name=name,
        pack=pack,
        folder=path.parent,
        reference=pack.reference / f"{name.replace('-', '_')}.py",
        title=data["title"],
        blurb=data["blurb"],
        requires=tuple(data["requires"]),
        functions=tuple(data["functions"]),
        points=data["points"],
        banned=tuple(families[family] for family in data["banned"]),
        out_of_scope=tuple(data["out_of_scope"]),
        panels=tuple(data.get("panels", ())),
        status=data.get("status", READY),
    )


def _line_of(key: str, text: str) -> int:
    """The line of a TOML text in which a key of the first level is set."""
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if re.match(rf"\s*{key}\s*=", line)), 1)


def problems(data: dict[str, Any]) -> list[str]:
    """What is wrong with the contents of a kata.toml, in words."""
    messages = []
    for key in data.keys() - KEYS.keys():
        messages.append(f"unknown key {key!r}{near(key, KEYS)}")
    for key in KEYS.keys() - data.keys() - OPTIONAL:
        messages.append(f"the key {key!r} is missing")
    for key, kind in KEYS.items():
        if key in data and type(data[key]) is not kind:
            messages.append(f"{key!r} must be a {kind.__name__}, not {data[key]!r}")
        elif kind is list and not all(isinstance(entry, str) for entry in data.get(key, [])):
            messages.append(f"{key!r} must hold strings, not {data[key]!r}")
    if not messages and data["format"] != FORMAT:
        messages.append(f"format {data['format']} is not known here; this version reads {FORMAT}")
    if not messages and data.get("status", READY) not in (READY, PLANNED):
        messages.append(f"'status' is {READY!r} or {PLANNED!r}, not {data['status']!r}")
    if not messages and not data["functions"]:
        messages.append("'functions' is empty")
    for name in data["functions"] if not messages else ():
        if not name.isidentifier() or keyword.iskeyword(name):
            messages.append(f"{name!r} in 'functions' is no name of a function")
        elif data["functions"].count(name) > 1:
            messages.append(f"{name!r} stands in 'functions' twice")
    if not messages and data["points"] < 0:
        messages.append(f"'points' is negative: {data['points']}")
    return sorted(set(messages))


def name_problems(name: str) -> list[str]:
    """What is wrong with the name of a kata's folder."""
    if not NAME.fullmatch(name) or len(name) > 32:
        return [f"{name!r} is no name for a kata: small letters, digits and single hyphens"]
    if keyword.iskeyword(name.replace("-", "_")):
        return [f"{name!r} means something else in Python"]
    return []
