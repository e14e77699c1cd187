"""The submissions of a class, in any of the layouts in which classes come, or a single one.

one       a folder of kata files, one file, a notebook
class     DIR/<student>/..., or DIR/<student>.zip
nbgrader  submitted/<student>/<assignment>/...
canvas    the download of an assignment: name_userid_submissionid_file.py, all in one folder
moodle    the download of an assignment: Name_number_assignsubmission_file/..., or as a prefix

Each of them may be a zip. Every student gets a submission, even one without any file.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from attention_katas.errors import KataError
from attention_katas.grading import notebooks
from attention_katas.grading import remarks as m
from attention_katas.grading.files import (
    TOOLS,
    WANTED,
    CannotRead,
    File,
    Listing,
    RefusedFile,
    in_archive,
    listed,
    printable,
)
from attention_katas.grading.results import Student
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.submission import Unreadable, decode
from attention_katas.verdict import reasons as r

AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE = "auto", "one", "class", "nbgrader", "canvas", "moodle"
LAYOUTS = (AUTO, ONE, CLASS, NBGRADER, CANVAS, MOODLE)

# The platform writes the part before the first number, the student the rest.
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
MOST_TEXT = 200  # of an exception of ours


@dataclass
class StudentSubmission:
    """The kata files of one student.

    sources: module -> text of the kata's file.
    invalid: module -> why the file is no source text, which is up to the student.
    unreadable: module -> why the file cannot be read, which is not up to the student.
    error: why a whole folder or archive cannot be read, which is not up to the student either.
    files: module -> the path of its file, as the student knows it.
    late: the platform says so.
    remarks: for the teacher.
    """

    student: Student
    sources: dict[str, str] = field(default_factory=dict)
    invalid: dict[str, r.Unreadability] = field(default_factory=dict)
    unreadable: dict[str, m.ReadFault] = field(default_factory=dict)
    error: m.ReadFault | None = None
    files: dict[str, str] = field(default_factory=dict)
    late: bool = False
    remarks: list[m.Remark] = field(default_factory=list)


@dataclass
class _Group:
    """Files of one student, their paths below the student's folder."""

    student: Student
    files: list[File] = field(default_factory=list)
    late: bool = False
    error: m.ReadFault | None = None
    remarks: list[m.Remark] = field(default_factory=list)


@dataclass(frozen=True)
class Collected:
    """The submissions of a class, which are read one after the other.

    unassigned: files that belong to no student and are not graded.
    """

    layout: str
    students: list[Student]
    unassigned: list[str]
    _groups: list[_Group]
    _catalog: Catalog

    def __iter__(self) -> Iterator[StudentSubmission]:
        for group in self._groups:
            try:
                yield _read(self._catalog, group)
            except Exception as error:  # noqa: BLE001 - ours; nobody else must suffer from it
                fault = grader_fault(error)
                yield StudentSubmission(group.student, error=fault, remarks=[fault])


def grader_fault(error: Exception) -> r.GraderFault:
    """The fact that an exception of ours leaves."""
    return r.GraderFault(type(error).__name__, printable(str(error))[:MOST_TEXT])


def collect(
    catalog: Catalog,
    path: Path,
    layout: str = AUTO,
    assignment: str | None = None,
    student: str | None = None,
) -> Collected:
    """The submissions in `path`: a folder, a file or a zip.

    assignment: which of nbgrader's, if there are several.
    student: the id of the student of a single submission.
    Raises KataError when there are no submissions.
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
        listing = listed(path)
    except (RefusedFile, CannotRead) as problem:
        raise KataError(str(problem), "download it once more") from None
    if () in listing.errors:
        raise KataError(f"{path} cannot be listed: {listing.errors[()]}")
    if layout == AUTO:
        layout, listing = _guess(catalog, path, listing)
    if layout == ONE:
        group = _Group(Student(student or _stem(path)), listing.files)
        group.error = next(map(_not_listed, listing.errors.items()), None)
        return _collected(catalog, ONE, [group], [])
    if student is not None:
        raise KataError("--student names a single submission, and this is a class")
    groups = _groups(layout, listing, assignment)
    if not groups:
        raise KataError(
            f"{path} holds no submission, seen as: {layout}",
            f"--layout {'|'.join(LAYOUTS[1:])} says what it is",
        )
    return _collected(catalog, layout, list(groups.values()), _unassigned(layout, listing))


def _not_listed(item: tuple[tuple[str, ...], str]) -> r.FolderNotListed:
    parts, problem = item
    return r.FolderNotListed(printable("/".join(parts)), problem)


def _unassigned(layout: str, listing: Listing) -> list[str]:
    """Files and folders that belong to no student in this layout."""
    top = [file.name for file in listing.files if len(file.parts) == 1 and file.wanted]
    if layout == CLASS:
        return [printable(name) for name in top if not name.lower().endswith(".zip")]
    names = {CANVAS: _CANVAS, MOODLE: _MOODLE}.get(layout)
    top += [parts[0] for parts in listing.folders if len(parts) == 1]
    return [printable(name) for name in top if names and not names.fullmatch(name)]


def _collected(
    catalog: Catalog, layout: str, groups: list[_Group], unassigned: list[str]
) -> Collected:
    groups = sorted(groups, key=lambda group: group.student.id)
    ids: set[str] = set()
    for group in groups:
        base, number = group.student.id, 2
        while group.student.id in ids:  # different names may have the same printable form
            group.student = replace(group.student, id=f"{base} ({number})")
            number += 1
        ids.add(group.student.id)
    return Collected(layout, [group.student for group in groups], unassigned, groups, catalog)


def _stem(path: Path) -> str:
    return path.stem if path.suffix.lower() == ".zip" else path.name


# Layouts


def _guess(catalog: Catalog, path: Path, listing: Listing) -> tuple[str, Listing]:
    """The layout that the names suggest, and the listing without a folder around everything.

    Raises KataError where it may be one submission as well as a class.
    """
    top = [file for file in listing.files if len(file.parts) == 1 and file.wanted]
    roots = {parts[0] for parts in listing.folders} | {file.name for file in top}
    canvas = sum(bool(_CANVAS.fullmatch(file.name)) for file in top)
    moodle = sum(bool(_MOODLE.fullmatch(name)) for name in roots)
    if canvas and canvas >= moodle:  # a student may name a file as the other platform would
        return CANVAS, listing
    if moodle:
        return MOODLE, listing
    if "submitted" in roots and any(parts[0] == "submitted" for parts in listing.folders):
        return NBGRADER, listing
    if path.name == "submitted":
        return NBGRADER, listing
    here = [file for file in top if _module(catalog, file.name)]
    several = _same_kata_in_several(catalog, listing)
    if several and (here or (path / ".git").exists()):
        names = ", ".join(map(printable, several[:3]))
        raise KataError(
            f"{path} may be a class ({names}, ...) or one submission",
            "--layout class, or --layout one",
        )
    if here:
        return ONE, listing
    if len(roots) == 1 and not top and not several:
        inside = listing.below(1)
        wraps = not any(
            _module(catalog, file.name) for file in inside.files if len(file.parts) == 1
        )
        if wraps and (inside.files or inside.folders):
            layout, deeper = _guess(catalog, Path(next(iter(roots))), inside)
            if layout != ONE:
                return layout, deeper
    if around := _class_inside(catalog, listing, len(several)):
        inner = f"kata grade {shlex.quote(str(path / around))}" if path.is_dir() else "unpack it"
        raise KataError(
            f"{path} may be a class, or a folder around the class {printable(around)}",
            f"{inner}, or --layout class",
        )
    if not several and (any(f.suffix == ".ipynb" for f in top) or (path / ".git").exists()):
        return ONE, listing
    return CLASS, listing


def _same_kata_in_several(catalog: Catalog, listing: Listing) -> list[str]:
    """Folders at the top that hold the same kata: as those of several students do."""
    homes: dict[str, set[str]] = {}
    for file in listing.files:
        match = _module(catalog, file.name) if len(file.parts) > 1 else None
        if match:
            homes.setdefault(match[0], set()).add(file.parts[0])
    most: set[str] = max(homes.values(), key=lambda home: len(home), default=set())
    return sorted(most) if len(most) > 1 else []


def _class_inside(catalog: Catalog, listing: Listing, most: int) -> str:
    """A folder at the top inside which more than `most` folders hold the same kata, or "".

    A student may keep several versions, but not more than there are students.
    """
    homes: dict[tuple[str, str], set[str]] = {}
    for file in listing.files:
        match = _module(catalog, file.name) if len(file.parts) > 2 and _is_work(file) else None
        if match:
            homes.setdefault((file.parts[0], match[0]), set()).add(file.parts[1])
    return next((top for (top, _), home in homes.items() if len(home) > max(most, 1)), "")


def _groups(layout: str, listing: Listing, assignment: str | None) -> dict[str, _Group]:
    """The files of each student."""
    if layout == NBGRADER:
        listing = _of_assignment(listing, assignment)
    groups: dict[str, _Group] = {}

    def group_of(name: str) -> _Group | None:
        group = _group_named(layout, name)
        if group is None:
            return None
        return groups.setdefault(group.student.id if layout in (CANVAS, MOODLE) else name, group)

    for parts in listing.folders:
        group = group_of(parts[0]) if layout != CANVAS else None
        if group and parts in listing.links and len(parts) == 1:
            group.remarks.append(m.FolderIsLink())
    for file in listing.files:
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
    for item in listing.errors.items():
        group = group_of(item[0][0])
        if group:
            group.error = _not_listed(item)
    return groups


def _group_named(layout: str, name: str) -> _Group | None:
    """The group of the student with whom this name begins; None if it belongs to no student."""
    if layout == CANVAS:
        match = _CANVAS.fullmatch(name)
        if not match:
            return None
        number = match["user"] or match["anon"]
        ids = {"canvas": number} if match["user"] else {}
        return _Group(Student(number, printable(match["name"] or number), ids))
    if layout == MOODLE:
        match = _MOODLE.fullmatch(name)
        if not match:
            return None
        number = match["number"]
        return _Group(Student(number, printable(match["name"]), {"moodle": number}))
    return _Group(_student(name))


def _is_late(match: re.Match[str]) -> bool:
    return "late" in match.re.groupindex and bool(match["late"] or match["late_too"])


def _of_assignment(listing: Listing, assignment: str | None) -> Listing:
    """The students' files of one of nbgrader's assignments: STUDENT/..."""
    if any(parts == ("submitted",) for parts in listing.folders):
        listing = Listing(
            [file for file in listing.files if file.parts[0] == "submitted"],
            [parts for parts in listing.folders if parts[0] == "submitted"],
            {parts for parts in listing.links if parts[0] == "submitted"},
            {parts: text for parts, text in listing.errors.items() if parts[0] == "submitted"},
        ).below(1)
    assignments = sorted({parts[1] for parts in listing.folders if len(parts) > 1})
    if assignment is None and len(assignments) > 1:
        names = ", ".join(map(printable, assignments))
        raise KataError(f"there are several assignments: {names}", "--assignment NAME")
    name = assignment or (assignments[0] if assignments else "")
    if name not in assignments:
        names = ", ".join(map(printable, assignments)) or "none"
        raise KataError(f"nobody handed in {name!r}; there are {names}")
    files = [
        File((file.parts[0], *file.parts[2:]), file.read)
        for file in listing.files
        if len(file.parts) > 2 and file.parts[1] == name
    ]
    folders: list[tuple[str, ...]] = [parts for parts in listing.folders if len(parts) == 1]
    return Listing(files, folders, listing.links, listing.errors)


def _student(name: str) -> Student:
    return Student(printable(name))


# One student's files


def _read(catalog: Catalog, group: _Group) -> StudentSubmission:
    """The kata files among a student's files."""
    submission = StudentSubmission(
        group.student, late=group.late, error=group.error, remarks=[*group.remarks]
    )
    files = list(_unpacked([file for file in group.files if _is_work(file)], submission))
    for module, file in _kata_files(catalog, files, submission.remarks).items():
        submission.files[module] = _path(file)
        try:
            submission.sources[module] = decode(file.read(), printable(file.name))
        except CannotRead as problem:
            submission.unreadable[module] = problem.reason
        except Unreadable as problem:
            submission.invalid[module] = problem.reason
    _read_joint(catalog, files, submission)
    if submission.error:
        submission.remarks.append(submission.error)
    elif not submission.files:
        submission.remarks.append(m.NoKataFile())
    return submission


def _path(file: File) -> str:
    return printable("/".join(file.parts))


def _is_work(file: File) -> bool:
    """Of a kind that may hold code, and not in a folder that a tool made."""
    return file.wanted and not any(part in TOOLS for part in file.parts[:-1])


def _read_joint(catalog: Catalog, files: Sequence[File], submission: StudentSubmission) -> None:
    """Katas without a file of their own, from notebooks and files that hold several."""
    joint = [
        file
        for file in sorted(files, key=lambda file: (len(file.parts), file.parts))
        if file.suffix != ".zip" and not _module(catalog, file.name)
    ]
    joint.sort(key=lambda file: file.suffix != ".ipynb")
    for file in joint[:MOST_JOINT_FILES]:
        if all(module in submission.files for module in catalog.modules):
            return
        for module, text in _joint(catalog, file, submission).items():
            if module not in submission.files:
                submission.sources[module] = text
                submission.files[module] = _path(file)
    if len(joint) > MOST_JOINT_FILES and len(submission.files) < len(catalog.modules):
        submission.remarks.append(m.FilesNotRead(MOST_JOINT_FILES, len(joint)))


def _joint(catalog: Catalog, file: File, submission: StudentSubmission) -> dict[str, str]:
    """The katas in a notebook, or in a file with several of them."""
    try:
        return notebooks.sources(catalog, file.read(), printable(file.name))
    except CannotRead as problem:
        submission.error = problem.reason
    except (RefusedFile, Unreadable) as problem:
        submission.remarks.append(problem.reason)
    return {}


def _unpacked(files: Sequence[File], submission: StudentSubmission) -> Iterator[File]:
    """The files, and those in their archives; archives inside archives stay closed."""
    for file in files:
        if file.suffix != ".zip":
            yield file
            continue
        try:
            for inner in in_archive(io.BytesIO(file.read()), file.name):
                if inner.suffix == ".zip":
                    fact = m.ArchiveInArchive(printable(inner.name), printable(file.name))
                    submission.remarks.append(fact)
                elif _is_work(inner):
                    yield File((*file.parts[:-1], *inner.parts), inner.read)
        except CannotRead as problem:
            submission.error = problem.reason
        except (RefusedFile, Unreadable) as problem:
            submission.remarks.append(problem.reason)


def _kata_files(
    catalog: Catalog, files: Sequence[File], remarks: list[m.Remark]
) -> dict[str, File]:
    """Which file is which kata's: files of the folder that has most of them come first."""
    candidates: dict[str, list[tuple[int, File]]] = {}
    homes: dict[tuple[str, ...], set[str]] = {}
    for file in files:
        match = _module(catalog, file.name)
        if match:
            module, copy = match
            candidates.setdefault(module, []).append((copy, file))
            homes.setdefault(file.parts[:-1], set()).add(module)
    home = min(homes, key=lambda at: (-len(homes[at]), len(at), at), default=())

    def rank(candidate: tuple[int, File]) -> tuple[bool, int, int, tuple[str, ...]]:
        """At home first; then the nearest; then the latest of several copies."""
        copy, file = candidate
        return file.parts[:-1] != home, len(file.parts), -copy, file.parts

    best = {}
    for module, several in candidates.items():
        best[module] = min(several, key=rank)[1]
        if len(several) > 1:
            path = _path(best[module])
            remarks.append(m.SeveralFiles(f"{module}.py", len(several), path))
    return best


def _module(catalog: Catalog, name: str) -> tuple[str, int] | None:
    """The kata whose file it is, in any spelling, and the number of the copy."""
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix.lower() != "py":
        return None
    stem = stem.strip()
    match = _COPY.search(stem)
    copy = int(match[1] or match[2] or 1) if match else 0
    stem = stem[: match.start()] if match else stem
    module = stem.strip().lower().replace("-", "_").replace(" ", "_")
    return (module, copy) if module in catalog.modules else None
