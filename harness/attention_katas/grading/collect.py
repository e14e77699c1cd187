"""Who handed in what: one submission, or a class in any of the shapes in which classes come.

one       a folder of kata files, one file, a notebook
class     DIR/<student>/..., or DIR/<student>.zip
nbgrader  submitted/<student>/<assignment>/...
canvas    the download of an assignment: name_userid_submissionid_file.py, all in one folder
moodle    the download of an assignment: Name_number_assignsubmission_file/..., or as a prefix

Each of them may be a zip. Everybody who is there gets an entry, also with no file at all.
"""

from __future__ import annotations

import collections
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from attention_katas.catalog import Catalog
from attention_katas.errors import KataError
from attention_katas.grading import notebooks
from attention_katas.grading.files import File, TooMuch, found_in, in_archive
from attention_katas.grading.results import Student
from attention_katas.submission import Unreadable, decode

AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE = "auto", "one", "class", "nbgrader", "canvas", "moodle"
LAYOUTS = (AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE)

_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:(?P<late>LATE)_)?(?P<user>\d+)_\d+_(?P<file>.+)", re.S)
_MOODLE = re.compile(
    r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.S
)
_COPY = re.compile(r"(?:[ _]?\((\d+)\)|-(\d+)| copy| - copy)$", re.I)


@dataclass
class HandIn:
    """What one student handed in.

    sources: text of each kata's file by module. unreadable: module -> why there is no text.
    shown: module -> the file as its owner knows it. remarks: for the teacher.
    """

    student: Student
    sources: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    late: bool = False
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Group:
    """Files of one student, their paths below the student's folder."""

    student: Student
    files: list[File] = field(default_factory=list)
    late: bool = False


@dataclass(frozen=True)
class Collected:
    """The hand-ins of a layout; they are read one after the other."""

    layout: str
    students: list[Student]
    _groups: list[_Group]
    _catalog: Catalog

    def __iter__(self) -> Iterator[HandIn]:
        for group in self._groups:
            yield _read(self._catalog, group)


def collect(
    catalog: Catalog,
    path: Path,
    layout: str = AUTO,
    assignment: str | None = None,
    student: str | None = None,
) -> Collected:
    """What is in `path`: a folder, a file or a zip.

    assignment: which of nbgrader's, if there are several. student: whose a single one is. Raises
    KataError when nothing like it is there.
    """
    path = path.absolute()
    if not path.exists():
        raise KataError(f"there is no {path}", "kata grade PATH, a folder, a file or a zip")
    if path.is_file() and path.suffix.lower() != ".zip":
        files = [file for file in found_in(path.parent) if file.parts == (path.name,)]
        if layout not in (AUTO, ONE) or not files:
            raise KataError(f"{path.name} is no .py, .ipynb or .zip", "kata grade --help")
        groups = [_Group(Student(student or path.stem), files)]
        return _collected(catalog, ONE, groups)
    try:
        files = list(found_in(path))
    except TooMuch as problem:
        raise KataError(f"{path.name}: {problem}", "download it once more") from None
    folders = _folders(path)
    found = layout if layout != AUTO else _guess(catalog, path, files)
    if found == ONE:
        return _collected(catalog, ONE, [_Group(Student(student or _stem(path)), files)])
    if student is not None:
        raise KataError("--student names a single submission, and this is a class")
    group = {CLASS: _by_folder, NBGRADER: _nbgrader, CANVAS: _canvas, MOODLE: _moodle}[found]
    groups = group(files, folders, assignment)
    if not groups:
        raise KataError(
            f"{path} holds no submission, seen as: {found}",
            f"--layout {'|'.join(LAYOUTS[1:])} says what it is",
        )
    return _collected(catalog, found, groups)


def _collected(catalog: Catalog, layout: str, groups: list[_Group]) -> Collected:
    groups = sorted(groups, key=lambda group: group.student.id)
    seen: collections.Counter[str] = collections.Counter()
    for group in groups:
        seen[group.student.id] += 1
        if seen[group.student.id] > 1:  # names that come out alike once they can be written
            again = f"{group.student.id} ({seen[group.student.id]})"
            group.student = replace(group.student, id=again)
    return Collected(layout, [group.student for group in groups], groups, catalog)


def _folders(path: Path) -> list[str]:
    """Folders in `path`, so that one without a file counts, too."""
    if not path.is_dir():
        return []
    found = (item for item in path.iterdir() if item.is_dir() and not item.is_symlink())
    return sorted(item.name for item in found if not item.name.startswith((".", "__")))


def _stem(path: Path) -> str:
    return path.stem if path.suffix.lower() == ".zip" else path.name


# Layouts


def _guess(catalog: Catalog, path: Path, files: Sequence[File]) -> str:
    """The layout by the look of it."""
    top = [file for file in files if len(file.parts) == 1]
    if any(_module(catalog, file.name) for file in top):
        return ONE
    if any(_MOODLE.fullmatch(file.parts[0]) for file in files):
        return MOODLE
    if any(_CANVAS.fullmatch(file.name) for file in top):
        return CANVAS
    if any(file.parts[0] == "submitted" and len(file.parts) > 2 for file in files):
        return NBGRADER
    if path.name == "submitted" and any(len(file.parts) > 2 for file in files):
        return NBGRADER
    if any(file.suffix == ".ipynb" for file in top) or (path / ".git").exists():
        return ONE
    return CLASS


def _by_folder(files: Sequence[File], folders: Sequence[str], _: str | None) -> list[_Group]:
    """DIR/<student>/... and DIR/<student>.zip."""
    groups = {name: _Group(_student(name)) for name in folders}
    for file in files:
        name = file.parts[0]
        if len(file.parts) > 1:
            groups.setdefault(name, _Group(_student(name))).files.append(file.below(1))
        elif file.suffix == ".zip":
            stem = name[: -len(".zip")]
            groups.setdefault(stem, _Group(_student(stem))).files.append(file)
    return list(groups.values())


def _nbgrader(
    files: Sequence[File], folders: Sequence[str], assignment: str | None
) -> list[_Group]:
    """submitted/<student>/<assignment>/..., or the inside of submitted/."""
    inside = [file.below(1) for file in files if file.parts[0] == "submitted"] or list(files)
    inside = [file for file in inside if len(file.parts) > 2]
    assignments = sorted({file.parts[1] for file in inside})
    if assignment is None and len(assignments) > 1:
        raise KataError(
            f"there are several assignments: {', '.join(assignments)}", "--assignment NAME"
        )
    chosen = assignment or (assignments[0] if assignments else "")
    if chosen not in assignments:
        raise KataError(f"nobody handed in {chosen!r}; there are {', '.join(assignments)}")
    groups: dict[str, _Group] = {}
    for file in inside:
        if file.parts[1] == chosen:
            name = file.parts[0]
            groups.setdefault(name, _Group(_student(name))).files.append(file.below(2))
    return list(groups.values())


def _canvas(files: Sequence[File], folders: Sequence[str], _: str | None) -> list[_Group]:
    """name_[LATE_]user_submission_file, as Canvas names what it packs into one folder."""
    groups: dict[str, _Group] = {}
    for file in files:
        found = _CANVAS.fullmatch(file.name)
        if not found:
            continue
        student = Student(found["user"], _text(found["name"]), {"canvas": found["user"]})
        group = groups.setdefault(student.id, _Group(student))
        group.files.append(File((found["file"],), file.read))
        group.late = group.late or bool(found["late"])
    return list(groups.values())


def _moodle(files: Sequence[File], folders: Sequence[str], _: str | None) -> list[_Group]:
    """Name_number_assignsubmission_file/..., or with the file's name behind it."""
    groups: dict[str, _Group] = {}

    def group_of(found: re.Match[str]) -> _Group:
        number = found["number"]
        student = Student(number, _text(found["name"]), {"moodle": number})
        return groups.setdefault(number, _Group(student))

    for name in folders:
        found = _MOODLE.fullmatch(name)
        if found:
            group_of(found)
    for file in files:
        found = _MOODLE.fullmatch(file.parts[0])
        if found and len(file.parts) > 1:
            group_of(found).files.append(file.below(1))
        elif found and found["file"]:
            group_of(found).files.append(File((found["file"],), file.read))
    return list(groups.values())


def _student(name: str) -> Student:
    return Student(_text(name))


def _text(name: str) -> str:
    """A name that can be written anywhere: composed letters, no surrogates, no control signs."""
    name = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8"))
    return "".join(sign if sign.isprintable() else "?" for sign in name).strip() or "?"


# One student's files


def _read(catalog: Catalog, group: _Group) -> HandIn:
    """The kata files among a student's files."""
    found = HandIn(group.student, late=group.late)
    files = list(_unpacked(group.files, found.remarks))
    chosen = _chosen(catalog, files, found.remarks)
    for module, file in chosen.items():
        found.shown[module] = "/".join(file.parts)
        try:
            found.sources[module] = decode(file.read(), file.name)
        except TooMuch as problem:
            found.unreadable[module] = Unreadable(str(problem))
        except Unreadable as problem:
            found.unreadable[module] = problem
    for file in sorted(files, key=lambda file: (len(file.parts), file.parts)):
        if file.suffix == ".zip" or file in chosen.values() or _module(catalog, file.name):
            continue
        if all(module in found.shown for module in catalog.modules):
            break
        for module, text in _joint(catalog, file, found).items():
            if module not in found.shown:
                found.sources[module], found.shown[module] = text, "/".join(file.parts)
    if not found.shown:
        found.remarks.append("no kata file was found")
    return found


def _joint(catalog: Catalog, file: File, found: HandIn) -> dict[str, str]:
    """What a notebook, or a file with several katas, holds."""
    try:
        return notebooks.sources(catalog, file.read(), file.name)
    except TooMuch as problem:
        found.remarks.append(str(problem))
    except Unreadable as problem:
        found.remarks.append(problem.message)
    return {}


def _unpacked(files: Sequence[File], remarks: list[str]) -> Iterator[File]:
    """The files, and what is in their archives (not in archives inside those)."""
    for file in files:
        if file.suffix != ".zip":
            yield file
            continue
        try:
            for inner in in_archive(io.BytesIO(file.read())):
                if inner.suffix == ".zip":
                    remarks.append(f"{inner.name} is a zip inside {file.name}: not looked into")
                else:
                    yield File((*file.parts[:-1], *inner.parts), inner.read)
        except TooMuch as problem:
            remarks.append(f"{file.name}: {problem}")


def _chosen(catalog: Catalog, files: Sequence[File], remarks: list[str]) -> dict[str, File]:
    """Which file is which kata's: those of the folder that has most of them come first."""
    candidates: dict[str, list[tuple[int, File]]] = {}
    homes: dict[tuple[str, ...], set[str]] = {}
    for file in files:
        told = _module(catalog, file.name)
        if told:
            candidates.setdefault(told[0], []).append((told[1], file))
            homes.setdefault(file.parts[:-1], set()).add(told[0])
    home = min(homes, key=lambda at: (-len(homes[at]), len(at), at), default=())
    chosen = {}
    for module, there in candidates.items():
        # At home first; then the latest of several copies; then the nearest.
        best = min(
            there,
            key=lambda one: (one[1].parts[:-1] != home, len(one[1].parts), -one[0], one[1].parts),
        )
        chosen[module] = best[1]
        if len(there) > 1:
            taken = "/".join(best[1].parts)
            remarks.append(f"{module}.py is there {len(there)} times; {taken} was graded")
    return chosen


def _module(catalog: Catalog, name: str) -> tuple[str, int] | None:
    """The kata whose file it is, however it is spelt, and the number of the copy."""
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix.lower() != "py":
        return None
    stem = stem.strip()
    found = _COPY.search(stem)
    copy = int(found[1] or found[2] or 1) if found else 0
    stem = stem[: found.start()] if found else stem
    module = stem.strip().lower().replace("-", "_").replace(" ", "_")
    return (module, copy) if module in catalog.modules else None
