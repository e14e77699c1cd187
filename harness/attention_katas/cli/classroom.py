"""`kata classroom init`: for teachers."""

from __future__ import annotations

from pathlib import Path

import click

from attention_katas.classroom import course, package
from attention_katas.cli.options import fail_under_option, feedback_option
from attention_katas.cli.shared import Group, katas_option, load, say, screen


@click.group(cls=Group)
def classroom() -> None:
    """For teachers: what a class starts from."""


@classroom.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--for",
    "target",
    type=click.Choice(course.TARGETS),
    default=course.ACTIONS,
    show_default=True,
    help="Where it is graded.",
)
@click.option(
    "--package",
    "spec",
    metavar="SPEC",
    default=package.DEFAULT,
    show_default=True,
    help="The judge: NAME==VERSION, git+https://...@TAG, or a wheel.",
)
@feedback_option
@fail_under_option("Actions: the job turns red below it.")
@click.option("--tag-only", is_flag=True, help="Actions: grade tags submit/... only.")
@click.option("--no-reporter", is_flag=True, help="Actions: without Classroom's reporter.")
@click.option("--secret-seed", is_flag=True, help="The same secret inputs for everybody.")
@click.option(
    "--katas-repository",
    metavar="OWNER/NAME",
    default="",
    help="Actions: the private repository of your own katas.",
)
@katas_option
def init(
    folder: Path,
    target: str,
    spec: str,
    feedback: str,
    fail_under: float | None,
    tag_only: bool,
    no_reporter: bool,
    secret_seed: bool,
    katas_repository: str,
) -> None:
    """Make FOLDER a template for a class: the stubs, and what grades them.

    For actions it is a template repository with a workflow; for classroom50 and gradescope it has
    a folder for the students and one for the grader. Files that are there already are left as
    they are.
    """
    from attention_katas.classroom.writing import write

    out = screen()
    plan = course.Course(
        catalog=load(strict=True),
        package=package.parse(spec),
        target=target,
        feedback=feedback,
        repository=katas_repository,
        fail_under=fail_under,
        reporter=not no_reporter,
        tag_only=tag_only,
        secret_seed=secret_seed,
    )
    changes = write(folder, plan)
    out.line()
    out.line(f"The template is {folder}{'' if changes.new else ' already'}", "bold")
    for name in changes.new:
        out.item(out.signs.passed, "green", name)
    stubs = {kata.file for kata in plan.catalog.ready}
    conflicts = 0
    for name, differs in changes.existing.items():
        conflict = differs and name.rpartition("/")[2] not in stubs
        note = "left as it is, though these options say otherwise" if conflict else "left as it is"
        out.item(out.signs.waiting, "yellow" if conflict else "dim", f"{name}  ({note})")
        conflicts += conflict
    out.line()
    if conflicts:
        out.next_step(_start_anew(conflicts))
    elif spec == package.DEFAULT and not package.is_from_an_index():
        say(
            f"requirements.txt asks for {spec}, and this installation is not from a package index: "
            "where the index has no such version, nobody can install it",
            f"{package.BUILD} in a clone of the repository; delete {folder} or name another "
            "folder, and add --package dist/NAME.whl",
        )
    else:
        out.next_step(NEXT[target])


def _start_anew(files: int) -> str:
    """What to do where files have other content than the options ask for."""
    those = "that file" if files == 1 else f"those {files} files"
    return f"for these options delete {those} or name another folder, then run it again"


NEXT = {
    course.ACTIONS: "push it to a repository, tick Settings > Template repository there",
    course.CLASSROOM50: "what its README.md says",
    course.GRADESCOPE: "upload its autograder.zip; README.md says how",
}
