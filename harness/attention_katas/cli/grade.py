"""`kata grade`: one submission, or a class."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas.cli.cluster import scheduler, tls_options, worker
from attention_katas.cli.grade_report import report
from attention_katas.cli.options import (
    Points,
    Target,
    all_names,
    fail_under_option,
    feedback_option,
)
from attention_katas.cli.shared import Group, katas_option, load, say, screen, selection
from attention_katas.errors import KataError
from attention_katas.grading import VARIABLE, formats
from attention_katas.grading.documents import Target as Document
from attention_katas.grading.documents import Writer, Written
from attention_katas.grading.results import redacted
from attention_katas.packs.catalog import Catalog, Kata

if TYPE_CHECKING:
    from attention_katas.grading.ledger import Ledger
    from attention_katas.grading.results import Result
    from attention_katas.grading.run import Assignment, Summary
    from attention_katas.service import ClassService

LAYOUTS = ("auto", "one", "class", "nbgrader", "canvas", "moodle")
STOPPED = 130
PAGE = "html"
GITHUB = ("reporter", "reporter-env", "actions", "annotations")  # what --github writes


class GradeTarget(Target):
    """FORMAT or FORMAT=FILE; html is the page of another command."""

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        name = str(value).partition("=")[0]
        if name == PAGE and name not in all_names(formats.REGISTRY):
            self.fail("html is not a format: `kata grade report` writes the page", param, ctx)
        return super().convert(value, param, ctx)


class Unnamed(click.Context):
    """The context of a command whose own name nobody types."""

    @property
    def command_path(self) -> str:
        return self.parent.command_path if self.parent else super().command_path


class GradeCommand(click.Command):
    context_class = Unnamed


class GradeGroup(Group):
    """`kata grade PATH` and `kata grade report`: what is no command's name is a path."""

    DEFAULT = "submissions"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = [self.DEFAULT, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in super().list_commands(ctx) if name != self.DEFAULT]


@click.group(cls=GradeGroup)
def grade() -> None:
    """Grade a submission or a class."""


def _list_formats(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    names = all_names(formats.REGISTRY)
    width = max(map(len, names))
    for name in names:
        click.echo(f"{name.ljust(width)}  {formats.REGISTRY.load(name).summary}")
    ctx.exit()


@grade.command(GradeGroup.DEFAULT, cls=GradeCommand, hidden=True)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--to",
    "targets",
    type=GradeTarget(),
    multiple=True,
    help="Write the results in a format, to its usual place or to FILE; may be repeated.",
)
@click.option(
    "--github",
    is_flag=True,
    help=f"In GitHub Actions: {' '.join(f'--to {name}' for name in GITHUB)}.",
)
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    callback=_list_formats,
    expose_value=False,
    help="List the formats.",
)
@feedback_option
@click.option(
    "--seed-file",
    type=click.Path(path_type=Path),
    help=f"A secret that decides all inputs (or set {VARIABLE}); without one they are random.",
)
@click.option("--only", "names", multiple=True, metavar="NAME", help="Grade this kata; repeatable.")
@click.option("--points", type=Points(), multiple=True, help="What a kata is worth; repeatable.")
@fail_under_option("Exit with 1 if anybody has fewer points than that.")
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default="auto",
    show_default=True,
    help="How PATH is laid out.",
)
@click.option("--assignment", metavar="NAME", help="Which of nbgrader's assignments.")
@click.option("--student", metavar="ID", help="Whose a single submission is.")
@click.option("--title", default="Attention katas", show_default=True, help="Of the assignment.")
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    help="Where verdicts are kept; for a class NAME-grades.db by default.",
)
@click.option("--workers", type=click.IntRange(1), help="Of this machine; one for each core.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Have it judged by a cluster: tls://HOST:PORT, or local for one of this machine.",
)
@tls_options
@click.option(
    "--worksheet", type=click.Path(path_type=Path), help="Moodle's grading worksheet, to fill in."
)
@click.option(
    "--gradebook",
    "exported",
    type=click.Path(path_type=Path),
    help="Canvas's exported gradebook, to fill in.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(1, 600),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="For all checks of a kata together.",
)
@click.option(
    "--allow-weak-sandbox", "weak", is_flag=True, help="Grade with the restrictions that hold."
)
@katas_option
@click.pass_context
def submissions(
    ctx: click.Context,
    /,
    path: Path,
    targets: tuple[tuple[str, str], ...],
    github: bool,
    feedback: str,
    names: tuple[str, ...],
    points: tuple[tuple[str, int], ...],
    fail_under: float | None,
    ledger: Path | None,
    title: str,
    worksheet: Path | None,
    exported: Path | None,
    **how: Any,
) -> None:
    """Grade PATH: a folder of kata files, a file, a notebook, or a class.

    A class is a folder of folders (or zips), one for each student, a download from Canvas or
    Moodle, or nbgrader's submitted/. Verdicts go into a ledger as they come: whatever happens,
    the same command goes on where it stopped. Everything is graded, also what hangs or crashes.

    `kata grade report` shows how the class did.

    Exit code: 0 graded, whatever the grades; 1 below --fail-under; 2 the command is
    wrong; 3 something could not be graded, which is our fault and costs nobody a point.
    """
    from attention_katas.grading import run
    from attention_katas.grading.collect import ONE, collect
    from attention_katas.grading.ledger import IN_MEMORY, Ledger

    katas = load(strict=True)
    files = {"worksheet": worksheet, "gradebook": exported}
    about = formats.About(
        title, feedback, fail_under, {name: file for name, file in files.items() if file}
    )
    collected = collect(katas, path, how["layout"], how["assignment"], how["student"])
    documents = _documents(targets, github, len(collected.students), about)
    ledger_path = IN_MEMORY
    if ledger or collected.layout != ONE:
        ledger_path = ledger or Path(f"{path.resolve().stem}-grades.db")
    quiet = any(target.on_screen and target.format != "annotations" for target in documents)
    with Ledger(ledger_path) as store:
        assignment = _assignment(
            katas, names, dict(points), title, how["seed_file"], store, how["time_limit"]
        )
        results, stopped = _judge(katas, assignment, collected, store, path, how)
        writer = Writer(results, about, stopped, lambda text: click.echo(text, nl=False))
        # Files first: whoever reads the screen may go away in the middle.
        writer.write([target for target in documents if not target.on_screen])
        summary = run.summary_of(results)
        if not quiet:
            result = redacted(results[0], feedback) if collected.layout == ONE else None
            _show(katas, result, summary, writer.written, documents)
        writer.write([target for target in documents if target.on_screen])
    for note in about.notes:
        say(note)
    for name in collected.unassigned[:10]:
        say(f"{name} belongs to no student and was not graded")
    if stopped:
        _say_stopped(len(results) * len(assignment.katas), summary.waiting)
        ctx.exit(STOPPED)
    if writer.written.error is not None:
        raise writer.written.error
    if not quiet and ledger_path != IN_MEMORY:
        screen().next_step(f"kata grade report {shlex.quote(str(ledger_path))}")
    ctx.exit(_exit_code(summary, fail_under))


def _documents(
    targets: Sequence[tuple[str, str]], github: bool, students: int, about: formats.About
) -> list[Document]:
    """Where each document goes. Raises KataError for one that cannot be written."""
    pairs = [*targets, *((name, "") for name in GITHUB if github)]
    for name, file in pairs:
        formats.check(name, students, about, file)
    return [Document(name, formats.place_of(name, file, about)) for name, file in pairs]


def _show(
    katas: Catalog,
    one: Result | None,
    summary: Summary,
    written: Written,
    documents: Sequence[Document],
) -> None:
    """Show one student's result or the class's, and what was written."""
    from attention_katas.grading import screen as grade_screen

    begin, end = _fence(documents)
    click.echo(begin, nl=False)
    out = screen()
    if one is not None:
        grade_screen.one(out, one, katas)
    else:
        grade_screen.many(out, summary)
        grade_screen.remarks(out, summary)
    for name, place in written.documents:
        out.item(out.signs.passed, "green", f"{name}: {place}")
    click.echo(end, nl=False)


def _fence(documents: Sequence[Document]) -> tuple[str, str]:
    """Lines around the screen in which the runner of Actions obeys no command."""
    from attention_katas.grading.formats.annotations import fence

    annotates = any(d.on_screen and d.format == "annotations" for d in documents)
    return fence() if annotates else ("", "")


def _say_stopped(everything: int, waiting: int) -> None:
    say(
        f"stopped: {everything - waiting} of {everything} katas judged; the ledger keeps them",
        _typed(),
    )


def _typed() -> str:
    """The command that is running."""
    return shlex.join(["kata", "grade", *sys.argv[2:]])


def _exit_code(summary: Summary, fail_under: float | None) -> int:
    from attention_katas.grading import screen as grade_screen

    if too_low := grade_screen.below(summary, fail_under):
        say(too_low)
    if summary.ungraded:
        return 3
    return int(fail_under is not None and summary.least < fail_under)


def _assignment(
    katas: Catalog,
    names: tuple[str, ...],
    points: dict[str, int],
    title: str,
    seed_file: Path | None,
    ledger: Ledger,
    seconds: float,
) -> Assignment:
    """What is graded, and from which secret its inputs come."""
    from attention_katas.grading import entries
    from attention_katas.grading.run import Assignment

    subjects: list[Kata] = list(dict.fromkeys(katas[name] for name in names)) or katas.ready
    for kata in subjects:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
    worth = {kata.name: kata.points for kata in subjects}
    for name, number in points.items():
        if katas[name].name not in worth:
            raise KataError(f"{name} is not graded here", f"--only {name}")
        worth[katas[name].name] = number
    secret = entries.secret_from(seed_file, os.environ)
    if secret is None:
        text = ledger.remembered("secret")
        secret = text.encode() if text else entries.fresh_secret()
        ledger.remember("secret", secret.decode())
    return Assignment(title, subjects, worth, secret, seconds)


def _judge(
    katas: Catalog,
    assignment: Assignment,
    collected: Any,
    ledger: Ledger,
    path: Path,
    how: dict[str, Any],
) -> tuple[Sequence[Result], bool]:
    """Everybody's results, and whether it was stopped before the end."""
    from attention_katas.grading import run
    from attention_katas.grading import screen as shown
    from attention_katas.render.terminal import console

    service = _service(len(collected.students) * len(assignment.katas), how)
    stopped = False
    with (
        shown.progress(console(sys.stderr), len(collected.students), len(assignment.katas)) as tell,
        contextlib.closing(service),
    ):
        grading = run.GradingRun(katas, assignment, collected, ledger, str(path.resolve()), tell)
        ledger.remember_command(os.getcwd(), _typed())
        try:
            grading.judge(service)
        except KeyboardInterrupt:
            stopped = True
    return grading.results(), stopped


def _service(most: int, how: dict[str, Any]) -> ClassService:
    """What judges: processes of this machine, or a cluster. most: tasks that there can be."""
    from attention_katas.service import Settings, machine, open_class_service
    from attention_katas.service.cluster import LOCAL, LOCAL_WORKERS, Keys

    scheduler = how["scheduler"] or ""
    default = LOCAL_WORKERS if scheduler else min(len(machine.cores()), most) if most > 6 else 1
    settings = Settings(
        workers=how["workers"] or default,
        packs=selection(),
        weak=how["weak"],
        kata_seconds=how["time_limit"],
    )
    keys = Keys(how["tls_ca"], how["tls_cert"], how["tls_key"])
    service = open_class_service(settings, scheduler, keys, say)
    if scheduler not in ("", LOCAL) and how["workers"]:
        raise KataError("--workers is of this machine", "kata grade worker, on the others")
    return service


grade.add_command(report)
grade.add_command(scheduler)
grade.add_command(worker)
