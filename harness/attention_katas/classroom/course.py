"""What a teacher asked for."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path

from attention_katas.classroom.package import Package
from attention_katas.errors import KataError
from attention_katas.packs.catalog import Catalog
from attention_katas.packs.pack import files_below
from attention_katas.verdict.redact import LEVELS

ACTIONS, CLASSROOM50, GRADESCOPE = "actions", "classroom50", "gradescope"
TARGETS = (ACTIONS, CLASSROOM50, GRADESCOPE)


@dataclass(frozen=True)
class Course:
    """One call of `kata classroom init`.

    repository: the private repository that Actions fetches the teacher's own pack from,
        OWNER/NAME.
    fail_under: percent; the job turns red below it.
    """

    catalog: Catalog
    package: Package
    target: str = ACTIONS
    feedback: str = "named"
    repository: str = ""
    fail_under: float | None = None
    reporter: bool = True
    tag_only: bool = False
    secret_seed: bool = False

    @property
    def private(self) -> bool:
        """There are katas of the teacher's own."""
        return bool(self.catalog.selection.folders)

    @property
    def option(self) -> str:
        """How the teacher named the packs, and the grader has to."""
        return "--only-katas" if self.catalog.selection.only else "--katas"

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
                "a pack of your own needs both --katas DIR, for the stubs, and "
                "--katas-repository OWNER/NAME, where Actions finds the tests",
                "give both, or --for gradescope",
            )
        elif len(self.catalog.selection.folders) > 1:
            raise KataError("Actions fetches one pack of your own", "--for gradescope, or one pack")
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
            "env": self.secret_seed,
            "secret-seed": self.secret_seed,
            "git": self.package.git,
            "wheel": self.package.wheel is not None,
            "torch": bool(torch_here()),
            **{name: self.target == name for name in TARGETS},
            **{name: self.feedback == name for name in LEVELS},
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
            "option": self.option,
            "packs": " ".join(
                f'{self.option} "$home/set/{p.name}"' for p in self.catalog.named_packs
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
    """The files of the teacher's own packs, by their path below set/: a folder for each pack."""
    found = {}
    for pack in course.catalog.named_packs:
        for top, folder in ((pack.name, pack.folder), (f"{pack.name}/reference", pack.reference)):
            for path in files_below(folder):
                found[f"{top}/{path.relative_to(folder).as_posix()}"] = path
    return found
