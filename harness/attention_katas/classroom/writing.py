"""Puts files into a folder, and leaves alone what is there."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from attention_katas.classroom.course import GRADESCOPE, Course
from attention_katas.classroom.targets import GRADER, File, files
from attention_katas.errors import KataError

ARCHIVE = "autograder.zip"


def write(root: Path, course: Course) -> tuple[list[str], dict[str, bool]]:
    """Write the course's files; returns the paths written, and those left as they were.

    Of the latter also whether something else would stand in them now.
    """
    again = "kata classroom init ANOTHER_FOLDER"
    if root.exists() and not root.is_dir():
        raise KataError(f"{root} is a file, not a folder", again)
    made: list[str] = []
    kept: dict[str, bool] = {}
    try:
        for file in list(files(course)):
            _put(root, file, made, kept)
        if course.target == GRADESCOPE:
            _put(root, File(ARCHIVE, _packed(root / GRADER)), made, kept)
    except OSError as error:
        message = f"{error.filename or root} cannot be written: {error.strerror}"
        raise KataError(message, again) from None
    return made, kept


def _put(root: Path, file: File, made: list[str], kept: dict[str, bool]) -> None:
    if _write(root, file):
        made.append(file.path)
    else:
        kept[file.path] = (root / file.path).read_bytes() != file.content


def _write(root: Path, file: File) -> bool:
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
    """The files at the root of an archive, as Gradescope wants them, and as they are on disk now.

    So that what a teacher changed in the folder is in the next archive.
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
