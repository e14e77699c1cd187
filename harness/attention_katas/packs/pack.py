"""A pack: a folder of katas with its pack.toml, their references and what they share.

pack.toml         format, name, title, version
NAME/kata.toml    one folder a kata
shared/           modules for mistakes, probes and tests; bans.toml
lab/              pictures of its own
reference/        inside the folder or beside it
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent
from attention_katas.packs import files
from attention_katas.packs.families import Family, near, read_families

FORMAT = 1
FILE = "pack.toml"
SHIPPED = "attention-katas"
KEYS: dict[str, type] = {"format": int, "name": str, "title": str, "version": str}
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Pack:
    """One pack.

    name: unique among packs; progress is kept under it.
    title: for people.
    version: its author's.
    folder: where pack.toml and the folders of the katas are.
    reference: the folder of the reference solutions.
    families: built-ins that its katas may ban, beside those of the pack that ships.
    """

    name: str
    title: str
    version: str
    folder: Path
    reference: Path
    families: tuple[Family, ...] = ()

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    @property
    def lab(self) -> Path:
        return self.folder / "lab"

    @property
    def ships(self) -> bool:
        return self.name == SHIPPED

    @cached_property
    def shared_digest(self) -> str:
        """A short hash of what its katas share."""
        return digest_of(self.shared, files_below(self.shared))

    @cached_property
    def digest(self) -> str:
        """A short hash of every file of the pack: of whatever may decide a verdict."""
        inside = files_below(self.folder)
        parts = (
            digest_of(self.folder, inside),
            digest_of(self.reference, files_below(self.reference)),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def files_below(folder: Path) -> list[Path]:
    """The files below a folder, without hidden ones and compiled ones, in order."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.is_file() and not _ignored(path))


def _ignored(path: Path) -> bool:
    return path.name.startswith(".") or path.parent.name == "__pycache__"


def digest_of(folder: Path, paths: Iterable[Path]) -> str:
    """A hash of files: of their names below `folder`, and their contents."""
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:12]


def locate(folder: Path) -> Path:
    """The folder with the pack.toml: `folder` itself, or katas/ in it. Raises BadContent."""
    for place in (folder, folder / "katas"):
        if (place / FILE).is_file():
            return place
    if not folder.is_dir():
        raise BadContent(f"there is no folder {folder}", f"kata dev new NAME --katas {folder}")
    place = folder / "katas" if any(folder.glob("katas/*/kata.toml")) else folder
    if any(place.glob("*/kata.toml")):
        raise BadContent(
            f"{place} holds katas, but no {FILE}",
            f'write {place / FILE}: format = {FORMAT}, name = "my-pack", title = "My pack", '
            'version = "1"',
        )
    raise BadContent(f"there is no pack in {folder}", f"kata dev new NAME --katas {folder}")


def read_pack(folder: Path) -> Pack:
    """The pack in a folder that holds a pack.toml. Raises BadContent, naming file and key."""
    path = folder / FILE
    try:
        data = files.toml_of(files.read_text(path), path)
    except FileNotFoundError:
        raise BadContent(f"{path} is not there") from None
    messages = problems(data)
    if messages:
        raise BadContent(f"{path}: {'; '.join(messages)}", "kata dev check")
    inside = folder / "reference"
    reference = inside if inside.is_dir() else folder.resolve().parent / "reference"
    families = read_families(folder / "shared" / "bans.toml")
    return Pack(data["name"], data["title"], data["version"], folder, reference, families)


def problems(data: dict[str, Any]) -> list[str]:
    """What is wrong with the contents of a pack.toml."""
    messages = [f"unknown key {key!r}{near(key, KEYS)}" for key in data.keys() - KEYS.keys()]
    for key, kind in KEYS.items():
        if key not in data:
            messages.append(f"the key {key!r} is missing")
        elif type(data[key]) is not kind:
            messages.append(f"{key!r} must be a {kind.__name__}, not {data[key]!r}")
    if not messages and data["format"] != FORMAT:
        messages.append(f"format {data['format']} is not known here; this version reads {FORMAT}")
    if not messages and not NAME.fullmatch(data["name"]):
        messages.append(f"{data['name']!r} is no name: small letters, digits and single hyphens")
    return sorted(messages)
