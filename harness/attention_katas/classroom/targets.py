"""Which files each target gets: a path in the folder, and what goes there."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

from jinja2 import Environment

from attention_katas.classroom.course import ACTIONS, CLASSROOM50, Course, sources, torch_here
from attention_katas.classroom.package import WHEELS
from attention_katas.render import templates

EXECUTABLE = {"setup.sh", "run_autograder"}
STUDENTS, GRADER = "students", "grader"


@dataclass(frozen=True)
class File:
    """A file that is to be written.

    path: below the teacher's folder, with forward slashes.
    random: the content is another one each time.
    """

    path: str
    content: bytes
    random: bool = False

    @property
    def mode(self) -> int:
        """The permissions: scripts that are run are executable."""
        return 0o755 if self.path.rpartition("/")[2] in EXECUTABLE else 0o644


def files(course: Course) -> Iterator[File]:
    """Everything that goes into the teacher's folder. Raises KataError as Course.check does."""
    course.check()
    if course.target == ACTIONS:
        yield from _students(course, "")
        yield _text(course, ".github/workflows/katas.yml", "katas.yml")
        return
    yield from _students(course, f"{STUDENTS}/")
    grader = _classroom50(course) if course.target == CLASSROOM50 else _gradescope(course)
    yield from (replace(file, path=f"{GRADER}/{file.path}") for file in grader)
    yield _text(course, "README.md", f"{course.target}.md")


def _students(course: Course, folder: str) -> Iterator[File]:
    """What a student starts from: neither tests nor references."""
    for kata in course.catalog.ready:
        yield File(folder + kata.file, kata.stub.read_bytes())
    yield _text(course, folder + "README.md", "students.md")
    yield _text(course, folder + ".gitignore", "gitignore")
    if not course.private or course.target == ACTIONS:
        yield from _requirements(course, folder)


def _requirements(course: Course, folder: str = "") -> Iterator[File]:
    yield _text(course, folder + "requirements.txt", "requirements.txt")
    wheel = course.package.wheel
    if wheel:
        yield File(f"{folder}{WHEELS}/{wheel.name}", wheel.read_bytes())


def _classroom50(course: Course) -> Iterator[File]:
    yield _text(course, "autograder.py", "autograder.py")
    yield _text(course, "runtime.json", "runtime.json")
    yield from _requirements(course)
    yield from _set(course)


def _gradescope(course: Course) -> Iterator[File]:
    yield _text(course, "setup.sh", "setup.sh")
    yield _text(course, "run_autograder", "run_autograder")
    yield from _requirements(course)
    yield from _set(course)
    if course.secret_seed:
        yield File("seed", f"{secrets.token_hex(16)}\n".encode(), random=True)


def _set(course: Course) -> Iterator[File]:
    """The teacher's own katas with their tests: for the grader alone."""
    if course.private:
        for name, path in sources(course).items():
            yield File(f"set/{name}", path.read_bytes())


def _text(course: Course, path: str, template: str) -> File:
    """A file from the template of that name."""
    values = {"course": course, "katas": course.catalog.ready, "torch": torch_here()}
    return File(path, _environment().get_template(template).render(values).encode())


@functools.cache
def _environment() -> Environment:
    return templates.text(__package__)
