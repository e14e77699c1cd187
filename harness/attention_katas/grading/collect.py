"""Who handed in what: one submission, or a class in any of the shapes in which classes come.

one       a folder of kata files, one file, a notebook
class     DIR/<student>/..., or DIR/<student>.zip
nbgrader  submitted/<student>/<assignment>/...
canvas    the download of an assignment: name_userid_submissionid_file.py, all in one folder
moodle    the download of an assignment: Name_number_assignsubmission_file/..., or as a prefix

Each of them may be a zip. Everybody who is there gets an entry, also with no file at all.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from attention_katas.errors import KataError
from attention_katas.grading import notebooks
from attention_katas.grading.files import (
    TOOLS,
    WANTED,
    CannotRead,
    File,
    Listing,
    TooMuch,
    in_archive,
    listed,
)
from attention_katas.grading.results import Student
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.submission import Unreadable, decode

AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE = "auto", "one", "class", "nbgrader", "canvas", "moodle"
LAYOUTS = (AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE)

# What stands before the first number is the platform's, what comes behind is the student's choice.
_CANVAS = re.compile(
    r"(?:anon_(?P<late_too>LATE_)?(?P<anon>[A-Za-z0-9]{5})|(?P<name>.+?)_(?P<late>LATE_)?(?P<user>\d+))"
    r"_\d+_(?P<file>.+)",
    re.S,
)
_MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.S
)
_COPY = re.compile(r"(?:[ _]?\((\d{1,2})\)|-(\d{1,2})| copy| - copy)$", re.I)
MOST_JOINT_FILES = 20


@dataclass
class StudentSubmission:
    """What one student handed in.

    sources: text of each kata's file by module. unreadable: module -> why there is no text.
    lost: module -> why it could not be read, which is not the student's doing; fault: the same of
    a whole folder. shown: module -> the file as its owner knows it. remarks: for the teacher.
    """

    student: Student
    sources: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    shown: dict[str, str] = field(default_factory=dict)
    late: bool = False
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Group:
    """Files of one student, their paths below the student's folder."""

    student: Student
    files: list[File] = field(default_factory=list)
    late: bool = False
    fault: str = ""
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Collected:
    """The hand-ins of a layout; they are read one after the other.

    beside: files that belong to nobody, and are not graded.
    """

    layout: str
    students: list[Student]
    beside: list[str]
    _groups: list[_Group]
    _catalog: Catalog

    def __iter__(self) -> Iterator[StudentSubmission]:
        for group in self._groups:
            try:
                yield _read(self._catalog, group)
            except Exception as error:  # noqa: BLE001 - ours; nobody else must suffer from it
                said = f"a fault of kata grade: {type(error).__name__}: {_text(str(error))}"[:300]
                yield StudentSubmission(group.student, fault=said, remarks=[said])


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
        if layout not in (AUTO, ONE) or path.suffix.lower() not in WANTED:
            raise KataError(f"{path.name} is no .py, .ipynb or .zip", "kata grade --help")
        files = [file for file in listed(path.parent).files if file.parts == (path.name,)]
        return _collected(catalog, ONE, [_Group(Student(student or path.stem), files)], [])
    try:
        found = listed(path)
    except (TooMuch, CannotRead) as problem:
        raise KataError(f"{path.name}: {problem}", "download it once more") from None
    if () in found.errors:
        raise KataError(f"{path} cannot be listed: {found.errors[()]}")
    if layout == AUTO:
        layout, found = _guess(catalog, path, found)
    if layout == ONE:
        group = _Group(Student(student or _stem(path)), found.files)
        group.fault = next(iter(found.errors.values()), "")
        return _collected(catalog, ONE, [group], [])
    if student is not None:
        raise KataError("--student names a single submission, and this is a class")
    groups = _groups(layout, found, assignment)
    if not groups:
        raise KataError(
            f"{path} holds no submission, seen as: {layout}",
            f"--layout {'|'.join(LAYOUTS[1:])} says what it is",
        )
    return _collected(catalog, layout, list(groups.values()), _beside(layout, found))


def _beside(layout: str, found: Listing) -> list[str]:
    """What belongs to nobody in this layout."""
    top = [file.name for file in found.files if len(file.parts) == 1 and file.wanted]
    if layout == CLASS:
        return [_text(name) for name in top if not name.lower().endswith(".zip")]
    names = {CANVAS: _CANVAS, MOODLE: _MOODLE}.get(layout)
    top += [parts[0] for parts in found.folders if len(parts) == 1]
    return [_text(name) for name in top if names and not names.fullmatch(name)]


def _collected(catalog: Catalog, layout: str, groups: list[_Group], beside: list[str]) -> Collected:
    groups = sorted(groups, key=lambda group: group.student.id)
    used: set[str] = set()
    for group in groups:
        wanted, number = group.student.id, 2
        while group.student.id in used:  # names that come out alike once they can be written
            group.student = replace(group.student, id=f"{wanted} ({number})")
            number += 1
        used.add(group.student.id)
    return Collected(layout, [group.student for group in groups], beside, groups, catalog)


def _stem(path: Path) -> str:
    return path.stem if path.suffix.lower() == ".zip" else path.name


# Layouts


def _guess(catalog: Catalog, path: Path, found: Listing) -> tuple[str, Listing]:
    """The layout by the look of it, and the listing without a folder that only wraps it.

    Raises KataError where it may be one submission as well as a class.
    """
    top = [file for file in found.files if len(file.parts) == 1 and file.wanted]
    roots = {parts[0] for parts in found.folders} | {file.name for file in top}
    canvas = sum(bool(_CANVAS.fullmatch(file.name)) for file in top)
    moodle = sum(bool(_MOODLE.fullmatch(name)) for name in roots)
    if canvas and canvas >= moodle:  # a student may name a file as the other platform would
        return CANVAS, found
    if moodle:
        return MOODLE, found
    if "submitted" in roots and any(parts[0] == "submitted" for parts in found.folders):
        return NBGRADER, found
    if path.name == "submitted":
        return NBGRADER, found
    here = [file for file in top if _module(catalog, file.name)]
    several = _same_kata_in_several(catalog, found)
    if several and (here or (path / ".git").exists()):
        raise KataError(
            f"{path} may be a class ({', '.join(map(_text, several[:3]))}, ...) or one submission",
            "--layout class, or --layout one",
        )
    if here:
        return ONE, found
    if len(roots) == 1 and not top and not several:
        inside = found.below(1)
        wraps = not any(
            _module(catalog, file.name) for file in inside.files if len(file.parts) == 1
        )
        if wraps and (inside.files or inside.folders):
            layout, deeper = _guess(catalog, Path(next(iter(roots))), inside)
            if layout != ONE:
                return layout, deeper
    if not several and (any(f.suffix == ".ipynb" for f in top) or (path / ".git").exists()):
        return ONE, found
    return CLASS, found


def _same_kata_in_several(catalog: Catalog, found: Listing) -> list[str]:
    """Folders at the top that hold the same kata: as those of several students do."""
    homes: dict[str, set[str]] = {}
    for file in found.files:
        told = _module(catalog, file.name) if len(file.parts) > 1 else None
        if told:
            homes.setdefault(told[0], set()).add(file.parts[0])
    most: set[str] = max(homes.values(), key=lambda home: len(home), default=set())
    return sorted(most) if len(most) > 1 else []


def _groups(layout: str, found: Listing, assignment: str | None) -> dict[str, _Group]:
    """Everybody's files, by what their entry begins with."""
    if layout == NBGRADER:
        found = _of_assignment(found, assignment)
    groups: dict[str, _Group] = {}

    def group_of(name: str) -> _Group | None:
        made = _named(layout, name)
        if made is None:
            return None
        return groups.setdefault(made.student.id if layout in (CANVAS, MOODLE) else name, made)

    for parts in found.folders:
        group = group_of(parts[0]) if layout != CANVAS else None
        if group and parts in found.links and len(parts) == 1:
            group.remarks.append("its folder is a link: not followed")
    for file in found.files:
        name = file.parts[0]
        if len(file.parts) > 1:
            if layout != CANVAS and (group := group_of(name)):
                group.files.append(file.below(1))
        elif layout in (CANVAS, MOODLE):
            pattern = (_CANVAS if layout == CANVAS else _MOODLE).fullmatch(name)
            group = group_of(name)
            if group and pattern and pattern["file"]:
                group.files.append(File((pattern["file"],), file.read))
                group.late = group.late or _is_late(pattern)
        elif layout == CLASS and file.suffix == ".zip":
            group = groups.setdefault(name[:-4], _Group(_student(name[:-4])))
            group.files.append(file)
    for parts, said in found.errors.items():
        group = group_of(parts[0])
        if group:
            group.fault = f"{_text('/'.join(parts))} cannot be listed: {said}"
    return groups


def _named(layout: str, name: str) -> _Group | None:
    """Whose an entry with this name is; None if it is nobody's."""
    if layout == CANVAS:
        found = _CANVAS.fullmatch(name)
        if not found:
            return None
        number = found["user"] or found["anon"]
        ids = {"canvas": number} if found["user"] else {}
        return _Group(Student(number, _text(found["name"] or number), ids))
    if layout == MOODLE:
        found = _MOODLE.fullmatch(name)
        if not found:
            return None
        number = found["number"]
        return _Group(Student(number, _text(found["name"]), {"moodle": number}))
    return _Group(_student(name))


def _is_late(found: re.Match[str]) -> bool:
    return "late" in found.re.groupindex and bool(found["late"] or found["late_too"])


def _of_assignment(found: Listing, assignment: str | None) -> Listing:
    """The students' files of one of nbgrader's assignments: STUDENT/..."""
    if any(parts == ("submitted",) for parts in found.folders):
        found = Listing(
            [file for file in found.files if file.parts[0] == "submitted"],
            [parts for parts in found.folders if parts[0] == "submitted"],
            {parts for parts in found.links if parts[0] == "submitted"},
            {parts: said for parts, said in found.errors.items() if parts[0] == "submitted"},
        ).below(1)
    assignments = sorted({parts[1] for parts in found.folders if len(parts) > 1})
    if assignment is None and len(assignments) > 1:
        told = ", ".join(map(_text, assignments))
        raise KataError(f"there are several assignments: {told}", "--assignment NAME")
    chosen = assignment or (assignments[0] if assignments else "")
    if chosen not in assignments:
        told = ", ".join(map(_text, assignments)) or "none"
        raise KataError(f"nobody handed in {chosen!r}; there are {told}")
    files = [
        File((file.parts[0], *file.parts[2:]), file.read)
        for file in found.files
        if len(file.parts) > 2 and file.parts[1] == chosen
    ]
    folders: list[tuple[str, ...]] = [parts for parts in found.folders if len(parts) == 1]
    return Listing(files, folders, found.links, found.errors)


def _student(name: str) -> Student:
    return Student(_text(name))


def _text(name: str) -> str:
    """A name that can be written anywhere: composed letters, no surrogates, no control signs."""
    name = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8"))
    return "".join(sign if sign.isprintable() else "?" for sign in name).strip() or "?"


# One student's files


def _read(catalog: Catalog, group: _Group) -> StudentSubmission:
    """The kata files among a student's files."""
    found = StudentSubmission(
        group.student, late=group.late, fault=group.fault, remarks=[*group.remarks]
    )
    files = list(_unpacked([file for file in group.files if _is_work(file)], found))
    chosen = _chosen(catalog, files, found.remarks)
    for module, file in chosen.items():
        found.shown[module] = _text("/".join(file.parts))
        try:
            found.sources[module] = decode(file.read(), _text(file.name))
        except CannotRead as problem:
            found.lost[module] = str(problem)
        except TooMuch as problem:
            found.unreadable[module] = Unreadable(str(problem))
        except Unreadable as problem:
            found.unreadable[module] = problem
    _take_joint(catalog, files, chosen, found)
    if found.fault:
        found.remarks.append(found.fault)
    elif not found.shown:
        found.remarks.append("no kata file was found")
    return found


def _is_work(file: File) -> bool:
    """Not what tools put into one's folder, and of a kind that may hold code."""
    return file.wanted and not any(part in TOOLS for part in file.parts[:-1])


def _take_joint(
    catalog: Catalog, files: Sequence[File], chosen: dict[str, File], found: StudentSubmission
) -> None:
    """Katas without a file of their own, from notebooks and files that hold several."""
    joint = [
        file
        for file in sorted(files, key=lambda file: (len(file.parts), file.parts))
        if file.suffix != ".zip" and not _module(catalog, file.name)
    ]
    joint.sort(key=lambda file: file.suffix != ".ipynb")
    for file in joint[:MOST_JOINT_FILES]:
        if all(module in found.shown for module in catalog.modules):
            return
        for module, text in _joint(catalog, file, found).items():
            if module not in found.shown:
                found.sources[module] = text
                found.shown[module] = _text("/".join(file.parts))
    if len(joint) > MOST_JOINT_FILES and len(found.shown) < len(catalog.modules):
        count = len(joint)
        found.remarks.append(f"only {MOST_JOINT_FILES} of {count} other files were looked into")


def _joint(catalog: Catalog, file: File, found: StudentSubmission) -> dict[str, str]:
    """What a notebook, or a file with several katas, holds."""
    try:
        return notebooks.sources(catalog, file.read(), _text(file.name))
    except CannotRead as problem:
        found.fault = str(problem)
    except TooMuch as problem:
        found.remarks.append(_text(str(problem)))
    except Unreadable as problem:
        found.remarks.append(_text(problem.message))
    return {}


def _unpacked(files: Sequence[File], found: StudentSubmission) -> Iterator[File]:
    """The files, and what is in their archives (not in archives inside those)."""
    for file in files:
        if file.suffix != ".zip":
            yield file
            continue
        try:
            for inner in in_archive(io.BytesIO(file.read())):
                if inner.suffix == ".zip":
                    said = f"{inner.name} is a zip inside {file.name}: not looked into"
                    found.remarks.append(_text(said))
                elif _is_work(inner):
                    yield File((*file.parts[:-1], *inner.parts), inner.read)
        except CannotRead as problem:
            found.fault = str(problem)
        except TooMuch as problem:
            found.remarks.append(_text(f"{file.name}: {problem}"))


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
            taken = _text("/".join(best[1].parts))
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
