"""Formats of `kata grade --to`: one module for each, found by being in this folder.

A module has a constant `FORMAT`, a `GradeFormat`, and its name is the format's. docs/formats.md
says who reads which, and how to add one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import overload

from attention_katas.errors import KataError
from attention_katas.grading.formats._text import file_names
from attention_katas.grading.results import Result, redacted
from attention_katas.render.registry import Format, Registry
from attention_katas.verdict.redact import LEVELS, NAMED


@dataclass(frozen=True)
class About:
    """What a format may need beside the results.

    title: of the assignment.
    feedback: how much a student sees, one of `verdict.redact.LEVELS`.
    fail_under: percent of the points below which a grade looks red, or None.
    files: files that a format fills in, by the option's name ("worksheet", "gradebook").
    environment: of this process.
    notes: sentences for the teacher, which a format adds to and the caller prints on stderr.
    """

    title: str = "Attention katas"
    feedback: str = NAMED
    fail_under: float | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert self.feedback in LEVELS, self.feedback


def _nothing_to_check(about: About) -> None:
    pass


@dataclass(frozen=True)
class GradeFormat(Format):
    """A format of `kata grade --to NAME`.

    The document is written as it is, in UTF-8, without translation of line ends.

    summary: one line for `kata grade --formats`.
    file: where the document goes by default: a file name; "$NAME" for the file that an environment
        variable names, which is added to and never replaced; or "-" for standard output.
    render: turns results into the document. Raises CouldNotGrade where something could not be
        graded and the reader has no word for that: then no document is written, and an older one is
        removed.
    holds_class: one document holds many students; else there is one for each student.
    for_teacher: only the teacher reads it, so the results are not redacted.
    folder: whether a folder with a document of each student is of use; by default it is for
        formats that hold one student and go to a file.
    check: called before anything is judged. Raises KataError for what cannot be written.
    """

    file: str
    render: Callable[[Sequence[Result], About], str]
    holds_class: bool = False
    for_teacher: bool = False
    folder: bool | None = None
    check: Callable[[About], None] = _nothing_to_check

    @property
    def folder_is_of_use(self) -> bool:
        if self.folder is None:
            return not self.holds_class and not self.file.startswith(("$", "-"))
        return self.folder


REGISTRY = Registry(__name__, GradeFormat, "kata grade --formats")


def is_too_low(result: Result, fail_under: float | None) -> bool:
    """Whether a result is below the threshold. What could not be graded counts as full."""
    if fail_under is None:
        return False
    benefit = sum(item.worth for item in result.items if item.points is None)
    return 100 * (result.points + benefit) < fail_under * result.worth


def place_of(name: str, file: str, about: About) -> str:
    """The place of a document: `file`, else the usual place of the format; a path, or "-".

    Raises KataError where the environment does not name it.
    """
    usual = REGISTRY.load(name).file
    if file or not usual.startswith("$"):
        return file or usual
    place = about.environment.get(usual[1:])
    if not place:
        raise KataError(f"{name} goes where {usual} says, and that is not set", f"--to {name}=FILE")
    return place


def adds(name: str, place: str, about: About) -> bool:
    """Whether the document is appended to a file that other programs write to as well."""
    usual = REGISTRY.load(name).file
    return usual.startswith("$") and about.environment.get(usual[1:]) == place


def is_folder(place: str) -> bool:
    """Whether a place is a folder for one document of each student."""
    return place.endswith(("/", os.sep)) or os.path.isdir(place)


def parts(
    name: str, place: str, results: Sequence[Result]
) -> Iterator[tuple[str, Sequence[Result]]]:
    """Each place with its results: one document, or in a folder one for each student."""
    if not is_folder(place):
        yield place, results
        return
    suffix = Path(REGISTRY.load(name).file).suffix
    safe = file_names([result.student.id for result in results])
    for result in results:
        yield os.path.join(place, safe[result.student.id] + suffix), [result]


def check(name: str, students: int, about: About, place: str = "") -> None:
    """Raises KataError if the format cannot hold that many students, before anything is judged."""
    checked = REGISTRY.load(name)
    if is_folder(place):
        if checked.holds_class:
            raise KataError(f"{name} holds a class in one file", f"--to {name}={checked.file}")
        if not checked.folder_is_of_use:
            raise KataError(
                f"{name} is for one submission: a folder of them would be of no use",
                f"--to text={place}",
            )
    elif not checked.holds_class and students != 1:
        one = "name one student's folder, or write --to csv or --to json"
        each = f"--to {name}=feedback/ writes one for each of them, into a folder"
        raise KataError(
            f"{name} is for one student, and here are {students}",
            each if checked.folder_is_of_use else one,
        )
    for option, path in about.files.items():
        if not path.is_file():
            raise KataError(f"--{option}: there is no file {path}")
    checked.check(about)


def render(name: str, results: Sequence[Result], about: About) -> str:
    """All results in a format. Raises KataError when it cannot hold them."""
    check(name, len(results), about)
    chosen = REGISTRY.load(name)
    if not chosen.for_teacher:
        results = _Redacted(results, about.feedback)
    return chosen.render(results, about)


class _Redacted(Sequence[Result]):
    """Results as students see them, redacted when they are read."""

    def __init__(self, results: Sequence[Result], feedback: str) -> None:
        self._results, self._feedback = results, feedback

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, at: int) -> Result: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Result]: ...

    def __getitem__(self, at: int | slice) -> Result | Sequence[Result]:
        if isinstance(at, slice):
            return _Redacted(self._results[at], self._feedback)
        return redacted(self._results[at], self._feedback)
