"""`kata grade`: one submission, or a class."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas.catalog import Catalog, Kata
from attention_katas.cli.shared import PRIVATE, Group, katas_option, load, say, screen
from attention_katas.errors import KataError
from attention_katas.grading import VARIABLE, formats
from attention_katas.grading.results import FEEDBACK, NAMED, shaped

if TYPE_CHECKING:
    from attention_katas.grading.gradebook import Assignment
    from attention_katas.grading.ledger import Ledger
    from attention_katas.grading.results import Result

LAYOUTS = ("auto", "one", "class", "nbgrader", "canvas", "moodle")
STOPPED = 130


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


class Targets(click.ParamType):  # type: ignore[type-arg]
    """FORMAT or FORMAT=FILE."""

    name = "FORMAT[=FILE]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        name, _, file = str(value).partition("=")
        if name not in formats.names():
            self.fail(f"there is no format {name!r}; there are {', '.join(formats.names())}")
        return name, file


class Points(click.ParamType):  # type: ignore[type-arg]
    """NAME=N."""

    name = "NAME=N"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, int]:
        name, _, number = str(value).partition("=")
        if not number.isdecimal():
            self.fail(f"{value!r} is not a kata's name, = and a whole number")
        return name, int(number)


def _list_formats(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    width = max(map(len, formats.names()))
    for name in formats.names():
        click.echo(f"{name.ljust(width)}  {formats.load(name).SUMMARY}")
    ctx.exit()


@grade.command(GradeGroup.DEFAULT, hidden=True)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--to",
    "targets",
    type=Targets(),
    multiple=True,
    help="Write the results in a format, to its usual place or to FILE; may be repeated.",
)
@click.option(
    "--github", is_flag=True, help="In GitHub Actions: --to reporter --to actions --to annotations."
)
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    callback=_list_formats,
    expose_value=False,
    help="List the formats.",
)
@click.option(
    "--feedback",
    type=click.Choice(FEEDBACK),
    default=NAMED,
    show_default=True,
    help="What students see: all, the mistake by name without inputs, or only points.",
)
@click.option(
    "--seed-file",
    type=click.Path(path_type=Path),
    help=f"A secret that decides all inputs (or set {VARIABLE}); without one they are random.",
)
@click.option("--only", "names", multiple=True, metavar="NAME", help="Grade this kata; repeatable.")
@click.option("--points", type=Points(), multiple=True, help="What a kata is worth; repeatable.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if anybody has fewer points than that.",
)
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
    help="Where verdicts are kept; for a class NAME-grades.db if not told.",
)
@click.option("--workers", type=click.IntRange(1), help="Of this machine; one for each core.")
@click.option(
    "--worksheet", type=click.Path(path_type=Path), help="Moodle's grading worksheet, to fill in."
)
@click.option(
    "--gradebook", type=click.Path(path_type=Path), help="Canvas's exported gradebook, to fill in."
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
    "--allow-weak-sandbox", "weak", is_flag=True, help="Go on where locks of the system lack."
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
    gradebook: Path | None,
    **how: Any,
) -> None:
    """Grade PATH: a folder of kata files, a file, a notebook, or a class.

    A class is a folder of folders (or zips), one for each student, a download from Canvas or
    Moodle, or nbgrader's submitted/. Verdicts go into a ledger as they come: whatever happens,
    the same command goes on where it stopped. Everything is graded, also what hangs or crashes.

    `kata grade report` shows how the class did.

    Exit code: 0 graded, whatever the grades; 1 below --fail-under; 2 asked for something
    impossible; 3 something could not be graded, which is our fault and costs nobody a point.
    """
    from attention_katas.grading import screen as shown
    from attention_katas.grading.collect import ONE, collect
    from attention_katas.grading.ledger import Ledger

    katas = load()
    given = {"worksheet": worksheet, "gradebook": gradebook}
    about = formats.About(
        title, feedback, fail_under, {n: p for n, p in given.items() if p is not None}
    )
    wanted = [*targets, *((name, "") for name in ("reporter", "actions", "annotations") if github)]
    collected = collect(katas, path, how["layout"], how["assignment"], how["student"])
    kept = Path(":memory:")
    if ledger or collected.layout != ONE:
        kept = ledger or Path(f"{path.resolve().stem}-grades.db")
    quiet = any(_place(name, file, about) == "-" for name, file in wanted)
    with Ledger(kept) as opened:
        assignment = _assignment(katas, names, dict(points), title, how["seed_file"], opened)
        results, stopped = _judge(katas, assignment, collected, opened, path, quiet, how)
    notes = [note for name, file in wanted for note in _write(name, file, results, about)]
    out = screen()
    if not quiet:
        if collected.layout == ONE:
            shown.one(out, shaped(results[0], feedback), katas)
        else:
            shown.many(out, results)
        for note in notes:
            out.item(out.signs.passed, "green", note)
    if stopped:
        again = shlex.join(["kata", "grade", *sys.argv[2:]])
        say("stopped; the ledger keeps what is done", again)
        ctx.exit(STOPPED)
    if not quiet and kept.name != ":memory:":
        out.next_step(f"kata grade report {shlex.quote(str(kept))}")
    ctx.exit(_exit_code(results, fail_under))


def _assignment(
    katas: Catalog,
    names: tuple[str, ...],
    points: dict[str, int],
    title: str,
    seed_file: Path | None,
    ledger: Ledger,
) -> Assignment:
    """What is graded, and from which secret its inputs come."""
    from attention_katas.grading import tasks
    from attention_katas.grading.gradebook import Assignment

    chosen: list[Kata] = list(dict.fromkeys(katas[name] for name in names)) or katas.ready
    for kata in chosen:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
    worth = {kata.name: kata.points for kata in chosen}
    for name, number in points.items():
        if katas[name].name not in worth:
            raise KataError(f"{name} is not graded here", f"--only {name}")
        worth[katas[name].name] = number
    secret = tasks.secret_from(seed_file, os.environ)
    if secret is None:
        remembered = ledger.remembered("secret")
        secret = remembered.encode() if remembered else tasks.fresh_secret()
        ledger.remember("secret", secret.decode())
    return Assignment(title, chosen, worth, secret)


def _judge(
    katas: Catalog,
    assignment: Assignment,
    collected: Any,
    ledger: Ledger,
    path: Path,
    quiet: bool,
    how: dict[str, Any],
) -> tuple[list[Result], bool]:
    """Everybody's results, and whether it was stopped before the end."""
    from attention_katas.grading import engine, gradebook
    from attention_katas.grading import screen as shown
    from attention_katas.reports.terminal import console

    private = click.get_current_context().find_root().meta.get(PRIVATE)
    most = len(collected.students) * len(assignment.katas)
    settings = engine.Settings(
        workers=how["workers"] or (min(len(engine.cores()), most) if most > 6 else 1),
        katas=str(private.resolve()) if private else "",
        weak=how["weak"],
        kata_seconds=how["time_limit"],
    )
    stopped = False
    with shown.progress(
        console(sys.stderr), len(collected.students), len(assignment.katas)
    ) as tell:
        grading = gradebook.Grading(katas, assignment, collected, ledger, str(path.resolve()), tell)
        try:
            grading.judge(gradebook.local(settings))
        except KeyboardInterrupt:
            stopped = True
    return grading.results(), stopped


def _place(name: str, file: str, about: formats.About) -> str:
    """Where a format goes: a file's path, or "-"."""
    usual: str = formats.load(name).FILE
    if file or not usual.startswith("$"):
        return file or usual
    place = about.environment.get(usual[1:])
    if not place:
        raise KataError(f"{name} goes where {usual} says, and that is not set", f"{name}=FILE")
    return place


def _write(name: str, file: str, results: list[Result], about: formats.About) -> list[str]:
    """Write one format; says where, unless that is the terminal."""
    place = _place(name, file, about)
    text = formats.render(name, results, about)
    if place == "-":
        click.echo(text, nl=False)
        return []
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        appends = not file and formats.load(name).FILE.startswith("$")
        with open(place, "a" if appends else "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
    except OSError as error:
        raise KataError(f"{place} cannot be written: {error.strerror}") from None
    return [f"{name}: {place}"]


def _exit_code(results: list[Result], fail_under: float | None) -> int:
    if not all(result.graded for result in results):
        return 3
    return int(any(formats.is_too_low(result, fail_under) for result in results))
