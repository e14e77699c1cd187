"""How results are written down: one module for each format, found by its being here.

A format module has

    SUMMARY   one line for `kata grade --help`
    FILE      where it goes unless the caller says: a file name, or "$NAME" for the file that an
              environment variable names (those are added to, never replaced), or "-"
    CLASS     whether one document holds many students (else there is one for each student)

    def render(results: Sequence[Result], about: About) -> str

and its name is the module's. `results` are redacted for the student, unless the module sets
TEACHER = True (a document that only the teacher reads). It may have

    def check(about: About) -> None   raises KataError for what cannot be written, before judging
    FOLDER = False                    a folder of one document for each student would be of no use

The text is written as it is, in UTF-8, without translation of line ends. render raises
CouldNotGrade where something could not be graded and the reader of the format has no word for that:
then there must be no document, not even an older one.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import overload

from attention_katas.errors import KataError
from attention_katas.grading.formats._text import file_names
from attention_katas.grading.results import Result, redacted
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


def names() -> list[str]:
    """Names of all formats, as they are typed."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in modules if not name.startswith("_"))


def load(name: str) -> ModuleType:
    """The module of a format. Raises KataError for one that is not there."""
    if name not in names():
        raise KataError(
            f"there is no format called {name!r}; there are {', '.join(names())}",
            "kata grade --help",
        )
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


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
    usual: str = load(name).FILE
    if file or not usual.startswith("$"):
        return file or usual
    place = about.environment.get(usual[1:])
    if not place:
        raise KataError(f"{name} goes where {usual} says, and that is not set", f"--to {name}=FILE")
    return place


def adds(name: str, place: str, about: About) -> bool:
    """Whether the document is appended to a file that other programs write to as well."""
    usual: str = load(name).FILE
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
    suffix = Path(load(name).FILE).suffix
    safe = file_names([result.student.id for result in results])
    for result in results:
        yield os.path.join(place, safe[result.student.id] + suffix), [result]


def check(name: str, students: int, about: About, place: str = "") -> None:
    """Raises KataError if the format cannot hold that many students, before anything is judged."""
    module = load(name)
    if is_folder(place):
        if module.CLASS:
            raise KataError(f"{name} holds a class in one file", f"--to {name}={module.FILE}")
        if not getattr(module, "FOLDER", not module.FILE.startswith(("$", "-"))):
            raise KataError(
                f"{name} is for one submission: a folder of them would be of no use",
                f"--to text={place}",
            )
    elif not module.CLASS and students != 1:
        folder = ", or a folder for one document each: --to text=feedback/"
        raise KataError(
            f"{name} holds one submission, and here are {students}",
            f"name one student's folder, or take csv or json{folder}",
        )
    for option, path in about.files.items():
        if not path.is_file():
            raise KataError(f"--{option}: there is no file {path}")
    if hasattr(module, "check"):
        module.check(about)


def render(name: str, results: Sequence[Result], about: About) -> str:
    """All results in a format. Raises KataError when it cannot hold them."""
    module = load(name)
    check(name, len(results), about)
    if not getattr(module, "TEACHER", False):
        results = _Redacted(results, about.feedback)
    text: str = module.render(results, about)
    return text


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
