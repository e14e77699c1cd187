"""What a teacher asked for."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path

from attention_katas.classroom.package import Package
from attention_katas.errors import KataError
from attention_katas.packs.catalog import Catalog

ACTIONS, CLASSROOM50, GRADESCOPE = "actions", "classroom50", "gradescope"
TARGETS = (ACTIONS, CLASSROOM50, GRADESCOPE)


@dataclass(frozen=True)
class Course:
    """One call of `kata classroom init`.

    private: katas of the teacher's own, not those that ship. repository: the private repository
    that Actions fetches them from, OWNER/NAME. fail_under: percent; the job turns red below it.
    """

    catalog: Catalog
    package: Package
    target: str = ACTIONS
    feedback: str = "named"
    private: bool = False
    repository: str = ""
    fail_under: int | None = None
    reporter: bool = True
    tag_only: bool = False
    secret_seed: bool = False

    def check(self) -> None:
        """Raises KataError for what does not go together."""
        if self.target != ACTIONS:
            only = {
                "--fail-under": self.fail_under is not None,
                "--no-reporter": not self.reporter,
                "--tag-only": self.tag_only,
                "--katas-repository": bool(self.repository),
            }
            for option in (name for name, present in only.items() if present):
                raise KataError(f"{option} is for Actions, not for {self.target}", "leave it out")
        elif self.private != bool(self.repository):
            raise KataError(
                "a private set of katas needs both --katas DIR, for the stubs, and "
                "--katas-repository OWNER/NAME, where Actions finds the tests",
                "give both, or --for gradescope",
            )
        if self.repository and not re.fullmatch(r"[\w.-]+/[\w.-]+", self.repository, re.ASCII):
            raise KataError(f"--katas-repository {self.repository!r} is not OWNER/NAME")
        if self.secret_seed and self.target == CLASSROOM50:
            raise KataError(
                "Classroom 50 publishes the grader, and a seed with it", "leave out --secret-seed"
            )


def torch_here() -> str:
    """The version of PyTorch on this machine if it is a released one, else nothing.

    With the same one, the teacher's own `kata grade` and a machine elsewhere agree.
    """
    try:
        version = importlib.metadata.version("torch").partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""
    return version if re.fullmatch(r"\d+(\.\d+)+", version) else ""


def sources(course: Course) -> dict[str, Path]:
    """The files of a private set, by their path in the set: katas/ and reference/."""
    catalog, found = course.catalog, {}
    for top, folder in (("katas", catalog.folder), ("reference", catalog.reference)):
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_file() and not any(p[0] == "." or p == "__pycache__" for p in parts):
                found["/".join((top, *parts))] = path
    return found
