"""Files as they were handed in: in a folder, or in a zip, without unpacking it to disk.

Nothing is followed out of the folder: a link could name anybody's file.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from attention_katas.submission import SIZE_CAP

NOTEBOOK_CAP = 16 << 20
ARCHIVE_CAP = 64 << 20  # of an archive inside another one
MOST_MEMBERS = 1_000_000
WANTED = {".py": SIZE_CAP, ".ipynb": NOTEBOOK_CAP, ".zip": ARCHIVE_CAP}
# Where no hand-in is: what tools leave behind, and what an archive keeps for one system.
SKIPPED = frozenset(
    ("__pycache__", "__MACOSX", "node_modules", "site-packages", "venv", "env", "build", "dist")
)


class TooMuch(Exception):
    """It is not read; the message says why."""


@dataclass(frozen=True)
class File:
    """One file. parts: its path below what was given. `read` raises TooMuch."""

    parts: tuple[str, ...]
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    def below(self, depth: int) -> File:
        return File(self.parts[depth:], self.read)


def found_in(path: Path) -> Iterator[File]:
    """Everything in a folder or a zip that may be part of a hand-in, in order of their names."""
    if path.is_dir():
        yield from _in_folder(path)
    else:
        yield from in_archive(path)


def _in_folder(root: Path) -> Iterator[File]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _skipped(name))
        parts = Path(folder).relative_to(root).parts
        for name in sorted(names):
            if PurePosixPath(name).suffix.lower() in WANTED and not name.startswith("."):
                yield File((*parts, name), _reader(Path(folder, name)))


def _reader(path: Path) -> Callable[[], bytes]:
    cap = WANTED[path.suffix.lower()]

    def read() -> bytes:
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise TooMuch(f"{path.name} is a link; only ordinary files are graded")
            if not stat.S_ISREG(status.st_mode):
                raise TooMuch(f"{path.name} is not an ordinary file")
            if status.st_size > cap:
                raise TooMuch(f"{path.name} is larger than {cap >> 10} KB")
            return path.read_bytes()
        except OSError as error:
            raise TooMuch(f"{path.name} cannot be read: {error.strerror}") from None

    return read


def in_archive(data: Path | io.BytesIO) -> Iterator[File]:
    """The same of a zip. Raises TooMuch for one that cannot be opened."""
    try:
        archive = zipfile.ZipFile(data)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise TooMuch(f"it is not a zip that can be opened: {error}") from None
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise TooMuch(f"it holds more than {MOST_MEMBERS:,} files")
    for member in sorted(members, key=lambda member: member.filename):
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        parts = tuple(part for part in parts if part not in ("/", "..", "."))
        if member.is_dir() or not parts or parts[-1].startswith("."):
            continue
        if any(_skipped(part) for part in parts[:-1]):
            continue
        if PurePosixPath(parts[-1]).suffix.lower() in WANTED:
            yield File(parts, _member(archive, member, parts[-1]))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    cap = WANTED[PurePosixPath(name).suffix.lower()]

    def read() -> bytes:
        if stat.S_ISLNK(member.external_attr >> 16):
            raise TooMuch(f"{name} is a link; only ordinary files are graded")
        try:
            with archive.open(member) as opened:  # what it says of its size may be a lie
                data = opened.read(cap + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise TooMuch(f"{name} cannot be read from its zip: {error}") from None
        except NotImplementedError:
            raise TooMuch(f"{name} is packed in a way that is not known here") from None
        if len(data) > cap:
            raise TooMuch(f"{name} is larger than {cap >> 10} KB")
        return data

    return read


def _skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in SKIPPED
