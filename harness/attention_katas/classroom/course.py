"""What a teacher asked for."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path

from attention_katas.classroom.package import Package
from attention_katas.errors import KataError
from attention_katas.grading.results import FEEDBACK
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
    fail_under: float | None = None
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
            for option in (name for name, given in only.items() if given):
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

    def facts(self) -> dict[str, bool]:
        """What the templates' `#: if NAME` ask for."""
        return {
            "private": self.private,
            "reporter": self.reporter,
            "tag-only": self.tag_only,
            "tags": self.target == ACTIONS and self.tag_only,
            "pushes": self.target == ACTIONS and not self.tag_only,
            "env": self.private or self.secret_seed,
            "secret-seed": self.secret_seed,
            "git": self.package.git,
            "wheel": self.package.wheel is not None,
            "torch": bool(torch_here()),
            **{name: self.target == name for name in TARGETS},
            **{name: self.feedback == name for name in FEEDBACK},
        }

    def words(self) -> dict[str, str]:
        """What stands for the templates' `@name@`."""
        katas = self.catalog.ready
        under = f" --fail-under {self.fail_under:g}" if self.fail_under is not None else ""
        return {
            "package": self.package.line,
            "torch": torch_here(),
            "feedback": self.feedback,
            "formats": "--github" if self.reporter else "--to actions --to annotations",
            "fail_under": under,
            "repository": self.repository,
            "show": f"kata show {katas[0].name}".ljust(26),
            "hint": f"kata hint {katas[0].name}".ljust(26),
            "table": "\n".join(f"| `{k.file}` | {k.blurb} | {k.points} |" for k in katas),
            "results": "\n".join(
                f"          {k.module.upper()}_RESULTS: ${{{{ steps.kata.outputs.{k.module} }}}}"
                for k in katas
            ),
        }


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
