"""Writes the files of a course into a folder; files that are there stay as they are."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from attention_katas.classroom.course import GRADESCOPE, Course
from attention_katas.classroom.targets import GRADER, File, files
from attention_katas.errors import KataError

ARCHIVE = "autograder.zip"


@dataclass
class Changes:
    """What became of the files of a course.

    new: paths that were written.
    existing: paths of files that were there and stay as they are; whether the course has other
        content for them.
    """

    new: list[str] = field(default_factory=list)
    existing: dict[str, bool] = field(default_factory=dict)


def write(root: Path, course: Course) -> Changes:
    """Write the course's files below `root`. Raises KataError if that cannot be."""
    again = "kata classroom init ANOTHER_FOLDER"
    if root.exists() and not root.is_dir():
        raise KataError(f"{root} is a file, not a folder", again)
    changes = Changes()
    try:
        for file in list(files(course)):
            _put(root, file, changes)
        if course.target == GRADESCOPE:
            _put(root, File(ARCHIVE, _packed(root / GRADER)), changes)
    except OSError as error:
        message = f"{error.filename or root} cannot be written: {error.strerror}"
        raise KataError(message, again) from None
    return changes


def _put(root: Path, file: File, changes: Changes) -> None:
    if _write(root, file):
        changes.new.append(file.path)
    else:
        here = (root / file.path).read_bytes()
        changes.existing[file.path] = not file.random and here != file.content


def _write(root: Path, file: File) -> bool:
    """Write one file, unless there is one already; returns whether it was written."""
    path = root / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as handle:
            handle.write(file.content)
    except FileExistsError:
        return False
    if file.mode != 0o644:
        path.chmod(file.mode)
    return True


def _packed(folder: Path) -> bytes:
    """A zip archive of the folder's files as they are on disk, at its root as Gradescope wants.

    What a teacher changed in the folder is in the next archive.
    """
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            file = File(path.relative_to(folder).as_posix(), path.read_bytes())
            entry = zipfile.ZipInfo(file.path)
            entry.external_attr = (0o100000 | file.mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.content)
    return raw.getvalue()
