"""The files of a submission, in a folder or in a zip, which is not unpacked to disk.

No link is followed: it could name anybody's file.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from attention_katas.grading import remarks as m
from attention_katas.grading import words
from attention_katas.packs.submission import SIZE_CAP, Unreadable
from attention_katas.verdict import reasons as r

NOTEBOOK_CAP = 16 << 20
ARCHIVE_CAP = 64 << 20  # of an archive inside another one
MOST_MEMBERS = 1_000_000
MOST_INNER_MEMBERS = 2_000
WANTED = {".py": SIZE_CAP, ".ipynb": NOTEBOOK_CAP, ".zip": ARCHIVE_CAP}
# Where nobody's work is, at whatever depth; and, in one's own folder, what tools put there.
NEVER = frozenset(("__pycache__", "__MACOSX", "node_modules", "site-packages"))
TOOLS = frozenset(("venv", "env", "build", "dist"))


class RefusedFile(Exception):
    """An archive or a notebook is not read, and that is up to the student. `reason` says why."""

    def __init__(self, reason: m.Refusal) -> None:
        super().__init__(words.remark(reason))
        self.reason = reason


class CannotRead(Exception):
    """A file cannot be read, and that is not up to the student. `reason` says why."""

    def __init__(self, reason: r.CannotBeRead) -> None:
        super().__init__(words.remark(reason))
        self.reason = reason


@dataclass(frozen=True)
class File:
    """One file of a submission.

    parts: its path below the folder or archive.
    read: its bytes; raises Unreadable or CannotRead.
    """

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
    """All files and folders of a folder or an archive, by their paths.

    links: folders that are links.
    errors: folders that cannot be listed -> what the operating system says.
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
            {parts[depth:]: text for parts, text in self.errors.items() if len(parts) > depth},
        )


def listed(path: Path) -> Listing:
    """The content of a folder or a zip, in order of names. Raises RefusedFile, CannotRead."""
    if path.is_dir():
        return _folder(path)
    listing = Listing()
    folders: dict[tuple[str, ...], None] = {}
    for parts, read in _members(path, printable(path.name), MOST_MEMBERS):
        if read is not None:
            listing.files.append(File(parts, read))
        folders.update(dict.fromkeys(parts[:n] for n in range(1, len(parts) + (read is None))))
    listing.folders = list(folders)
    return listing


def in_archive(data: io.BytesIO, name: str) -> Iterator[File]:
    """Files of a zip inside a submission. Raises RefusedFile, CannotRead."""
    for parts, read in _members(data, printable(name), MOST_INNER_MEMBERS):
        if read is not None:
            yield File(parts, read)


def printable(text: str) -> str:
    """The text as it can be written anywhere: composed letters, no surrogates, no control signs."""
    text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    return "".join(sign if sign.isprintable() else "?" for sign in text).strip() or "?"


def _folder(root: Path) -> Listing:
    listing = Listing()

    def fails(error: OSError) -> None:
        parts = Path(error.filename).relative_to(root).parts if error.filename else ()
        listing.errors[parts] = error.strerror or str(error)

    for folder, folders, names in os.walk(root, onerror=fails):
        folders[:] = sorted(name for name in folders if not _skipped(name))
        parts = Path(folder).relative_to(root).parts
        listing.folders += [(*parts, name) for name in folders]
        listing.links |= {(*parts, name) for name in folders if os.path.islink(Path(folder, name))}
        listing.files += [
            File((*parts, name), _reader(Path(folder, name))) for name in sorted(names)
        ]
    return listing


def _reader(path: Path) -> Callable[[], bytes]:
    name = printable(path.name)

    def read() -> bytes:
        cap = WANTED[path.suffix.lower()]
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise Unreadable(r.LinkNotFollowed(name))
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable(r.NotAnOrdinaryFile(name))
            if status.st_size > cap:
                raise Unreadable(r.TooLarge(name, cap >> 10))
            return path.read_bytes()
        except OSError as error:
            raise CannotRead(r.CannotBeRead(name, error.strerror or "")) from None

    return read


def _members(
    data: Path | io.BytesIO, name: str, most: int
) -> Iterator[tuple[tuple[str, ...], Callable[[], bytes] | None]]:
    """Paths in a zip and how to read them; None for a folder."""
    try:
        archive = zipfile.ZipFile(data)
        members = archive.infolist()
    except OSError as error:
        raise CannotRead(r.CannotBeRead(name, error.strerror or printable(str(error)))) from None
    except Exception as error:  # noqa: BLE001 - whatever an archive can make zipfile raise
        raise RefusedFile(m.NotAnArchive(name, printable(str(error)))) from None
    if len(members) > most:
        raise RefusedFile(m.TooManyMembers(name, most))
    for member in sorted(members, key=lambda member: member.filename):
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        parts = tuple(part for part in parts if part not in ("/", "..", "."))
        if parts and not any(map(_skipped, parts[:-1])):
            yield parts, None if member.is_dir() else _member(archive, member, parts[-1])


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str) -> Callable[[], bytes]:
    name = printable(path)

    def read() -> bytes:
        cap = WANTED[PurePosixPath(path).suffix.lower()]
        if stat.S_ISLNK(member.external_attr >> 16):
            raise Unreadable(r.LinkNotFollowed(name))
        try:
            with archive.open(member) as stream:  # the size in the directory may be wrong
                data = stream.read(cap + 1)
        except OSError as error:
            if error.errno is not None:
                raise CannotRead(r.CannotBeRead(name, error.strerror or "")) from None
            raise Unreadable(r.DamagedInArchive(name, printable(str(error)))) from None
        except Exception as error:  # noqa: BLE001 - damaged, encrypted, an unknown method
            raise Unreadable(r.DamagedInArchive(name, printable(str(error)))) from None
        if len(data) > cap:
            raise Unreadable(r.TooLarge(name, cap >> 10))
        return data

    return read


def _skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in NEVER
