"""Files as they were handed in: in a folder, or in a zip, without unpacking it to disk.

Nothing is followed out of the folder: a link could name anybody's file.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from attention_katas.packs.submission import SIZE_CAP

NOTEBOOK_CAP = 16 << 20
ARCHIVE_CAP = 64 << 20  # of an archive inside another one
MOST_MEMBERS = 1_000_000
MOST_INNER_MEMBERS = 2_000
WANTED = {".py": SIZE_CAP, ".ipynb": NOTEBOOK_CAP, ".zip": ARCHIVE_CAP}
# Where nobody's work is, at whatever depth; and, in one's own folder, what tools put there.
NEVER = frozenset(("__pycache__", "__MACOSX", "node_modules", "site-packages"))
TOOLS = frozenset(("venv", "env", "build", "dist"))


class TooMuch(Exception):
    """It is not read, and that is the doing of who handed it in; the message says why."""


class CannotRead(Exception):
    """It is not read, and that is nobody's doing who handed it in; the message says why."""


@dataclass(frozen=True)
class File:
    """One file. parts: its path below what was given. `read` raises TooMuch or CannotRead."""

    parts: tuple[str, ...]
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def wanted(self) -> bool:
        """Whether it may hold code of a kata."""
        return self.suffix in WANTED and not self.name.startswith(".")

    def below(self, depth: int) -> File:
        return File(self.parts[depth:], self.read)


@dataclass
class Listing:
    """All files and folders by their paths.

    errors: folders that could not be listed, and why. links: folders that are links elsewhere.
    """

    files: list[File] = field(default_factory=list)
    folders: list[tuple[str, ...]] = field(default_factory=list)
    links: set[tuple[str, ...]] = field(default_factory=set)
    errors: dict[tuple[str, ...], str] = field(default_factory=dict)

    def below(self, depth: int) -> Listing:
        return Listing(
            [file.below(depth) for file in self.files if len(file.parts) > depth],
            [parts[depth:] for parts in self.folders if len(parts) > depth],
            {parts[depth:] for parts in self.links if len(parts) > depth},
            {parts[depth:]: said for parts, said in self.errors.items() if len(parts) > depth},
        )


def listed(path: Path) -> Listing:
    """What is in a folder or a zip, in order of names. Raises TooMuch, CannotRead."""
    if path.is_dir():
        return _folder(path)
    found = Listing()
    folders: dict[tuple[str, ...], None] = {}
    for parts, read in _members(path, MOST_MEMBERS):
        if read is not None:
            found.files.append(File(parts, read))
        folders.update(dict.fromkeys(parts[:n] for n in range(1, len(parts) + (read is None))))
    found.folders = list(folders)
    return found


def in_archive(data: io.BytesIO) -> Iterator[File]:
    """Files of a zip that was itself handed in. Raises TooMuch."""
    for parts, read in _members(data, MOST_INNER_MEMBERS):
        if read is not None:
            yield File(parts, read)


def _folder(root: Path) -> Listing:
    found = Listing()

    def fails(error: OSError) -> None:
        parts = Path(error.filename).relative_to(root).parts if error.filename else ()
        found.errors[parts] = error.strerror or str(error)

    for folder, folders, names in os.walk(root, onerror=fails):
        folders[:] = sorted(name for name in folders if not _skipped(name))
        parts = Path(folder).relative_to(root).parts
        found.folders += [(*parts, name) for name in folders]
        found.links |= {(*parts, name) for name in folders if os.path.islink(Path(folder, name))}
        found.files += [File((*parts, name), _reader(Path(folder, name))) for name in sorted(names)]
    return found


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        cap = WANTED[path.suffix.lower()]
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
            raise CannotRead(f"{path.name} cannot be read: {error.strerror}") from None

    return read


def _members(
    data: Path | io.BytesIO, most: int
) -> Iterator[tuple[tuple[str, ...], Callable[[], bytes] | None]]:
    """Paths in a zip and how to read them; None for a folder."""
    try:
        archive = zipfile.ZipFile(data)
        members = archive.infolist()
    except OSError as error:
        raise CannotRead(f"it cannot be read: {error.strerror or error}") from None
    except Exception as error:  # noqa: BLE001 - whatever an archive can make zipfile say
        raise TooMuch(f"it is not a zip that can be opened: {error}") from None
    if len(members) > most:
        raise TooMuch(f"it holds more than {most:,} files")
    for member in sorted(members, key=lambda member: member.filename):
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        parts = tuple(part for part in parts if part not in ("/", "..", "."))
        if parts and not any(map(_skipped, parts[:-1])):
            yield parts, None if member.is_dir() else _member(archive, member, parts[-1])


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        cap = WANTED[PurePosixPath(name).suffix.lower()]
        if stat.S_ISLNK(member.external_attr >> 16):
            raise TooMuch(f"{name} is a link; only ordinary files are graded")
        try:
            with archive.open(member) as opened:  # what it says of its size may be a lie
                data = opened.read(cap + 1)
        except OSError as error:
            if error.errno is not None:
                raise CannotRead(f"{name} cannot be read: {error.strerror}") from None
            raise TooMuch(f"{name} cannot be read from its zip: {error}") from None
        except Exception as error:  # noqa: BLE001 - damaged, encrypted, packed in unknown ways
            raise TooMuch(f"{name} cannot be read from its zip: {error}") from None
        if len(data) > cap:
            raise TooMuch(f"{name} is larger than {cap >> 10} KB")
        return data

    return read


def _skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in NEVER
