"""`kata grade`: one submission, or a class."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas.cli.cluster import scheduler, tls_options, worker
from attention_katas.cli.shared import Group, katas_option, load, say, screen, selection, waiting
from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.grading import VARIABLE, formats
from attention_katas.grading.results import redacted
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.verdict.redact import LEVELS, NAMED

if TYPE_CHECKING:
    from attention_katas.grading.ledger import Ledger
    from attention_katas.grading.results import Result
    from attention_katas.grading.run import Assignment
    from attention_katas.service import ClassService

LAYOUTS = ("auto", "one", "class", "nbgrader", "canvas", "moodle")
STOPPED = 130
# The formats that --github stands for.
GITHUB = ("reporter", "reporter-env", "actions", "annotations")


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
        if not number.isdecimal() or len(number) > 6:
            self.fail(f"{value!r} is not a kata's name, = and a whole number")
        return name, int(number)


def _list_formats(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    width = max(map(len, formats.names()))
    for name in formats.names():
        click.echo(f"{name.ljust(width)}  {formats.load(name).SUMMARY}")
    ctx.exit()


@grade.command(GradeGroup.DEFAULT, cls=GradeCommand, hidden=True)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--to",
    "targets",
    type=Targets(),
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
@click.option(
    "--feedback",
    type=click.Choice(LEVELS),
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
    exported: Path | None,
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
    from attention_katas.grading import run
    from attention_katas.grading import screen as shown
    from attention_katas.grading.collect import ONE, collect
    from attention_katas.grading.ledger import IN_MEMORY, Ledger

    katas = load(strict=True)
    given = {"worksheet": worksheet, "gradebook": exported}
    about = formats.About(
        title, feedback, fail_under, {n: p for n, p in given.items() if p is not None}
    )
    wanted = [*targets, *((name, "") for name in GITHUB if github)]
    collected = collect(katas, path, how["layout"], how["assignment"], how["student"])
    for name, file in wanted:
        formats.check(name, len(collected.students), about, file)
    kept = IN_MEMORY
    if ledger or collected.layout != ONE:
        kept = ledger or Path(f"{path.resolve().stem}-grades.db")
    placed = [(name, formats.place_of(name, file, about)) for name, file in wanted]
    printed = {name for name, place in placed if place == "-"}
    quiet = bool(printed - {"annotations"})
    with Ledger(kept) as opened:
        assignment = _assignment(
            katas, names, dict(points), title, how["seed_file"], opened, how["time_limit"]
        )
        results, stopped = _judge(katas, assignment, collected, opened, path, how)
        # Documents first: whoever reads the screen may go away in the middle.
        done = _write_all([one for one in placed if one[1] != "-"], results, about, stopped)
        summary = run.summary_of(results)
        if not quiet:
            begin, end = _fence() if "annotations" in printed else ("", "")
            click.echo(begin, nl=False)
            if collected.layout == ONE:
                shown.one(screen(), redacted(results[0], feedback), katas)
            else:
                shown.many(screen(), summary)
                shown.remarks(screen(), summary)
            for name, place in done.written:
                screen().item(screen().signs.passed, "green", f"{name}: {place}")
            click.echo(end, nl=False)
        done += _write_all([one for one in placed if one[1] == "-"], results, about, stopped)
    for note in about.notes:
        say(note)
    for name in collected.unassigned[:10]:
        say(f"{name} belongs to no student and was not graded")
    if stopped:
        everything = len(results) * len(assignment.katas)
        judged = everything - summary.waiting
        say(
            f"stopped: {judged} of {everything} katas judged; the ledger keeps them",
            shlex.join(["kata", "grade", *sys.argv[2:]]),
        )
        ctx.exit(STOPPED)
    if done.fault is not None:
        raise done.fault
    if not quiet and kept != IN_MEMORY:
        screen().next_step(f"kata grade report {shlex.quote(str(kept))}")
    if too_low := shown.below(summary, fail_under):
        say(too_low)
    if summary.ungraded:
        ctx.exit(3)
    ctx.exit(int(fail_under is not None and summary.least < fail_under))


def _fence() -> tuple[str, str]:
    """Around what is shown, so that the runner of Actions finds no command in it."""
    begin, end = formats.load("annotations").fence()
    return str(begin), str(end)


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

    chosen: list[Kata] = list(dict.fromkeys(katas[name] for name in names)) or katas.ready
    for kata in chosen:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
    worth = {kata.name: kata.points for kata in chosen}
    for name, number in points.items():
        if katas[name].name not in worth:
            raise KataError(f"{name} is not graded here", f"--only {name}")
        worth[katas[name].name] = number
    secret = entries.secret_from(seed_file, os.environ)
    if secret is None:
        remembered = ledger.remembered("secret")
        secret = remembered.encode() if remembered else entries.fresh_secret()
        ledger.remember("secret", secret.decode())
    return Assignment(title, chosen, worth, secret, seconds)


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


@dataclass
class Written:
    """Formats that are there, and where; and what kept another one from it."""

    written: list[tuple[str, str]] = field(default_factory=list)
    fault: KataError | None = None

    def __iadd__(self, other: Written) -> Written:
        self.written += other.written
        self.fault = self.fault or other.fault
        return self


def _write_all(
    placed: list[tuple[str, str]], results: Sequence[Result], about: formats.About, stopped: bool
) -> Written:
    """Write every format that can be written.

    stopped: half of the results are not there, and no document is replaced by half a one.
    """
    done = Written()
    for name, place in placed:
        count = 0
        for part, some in formats.parts(name, place, results):
            adds = formats.adds(name, part, about)
            if stopped and os.path.exists(part) and not adds:
                about.notes.append(f"{name}: {part} is left as it was: not everything is judged")
                continue
            try:
                _write(part, formats.render(name, some, about), adds)
                count += 1
            except KataError as error:
                if done.fault is None or done.fault.exit_code < error.exit_code:
                    done.fault = error
                if not isinstance(error, CouldNotGrade):
                    break
                if part != "-" and not adds:
                    with contextlib.suppress(OSError):  # an older one would be taken for this one
                        os.remove(part)
                if part != place:
                    about.notes.append(f"there is no {part}: {error.message}")
        if count:
            many = f" ({count} documents)" if formats.is_folder(place) else ""
            done.written.append((name, f"{place}{many}"))
    return done


def _write(place: str, text: str, add: bool) -> None:
    """Write a document: all of it, or nothing."""
    if place == "-":
        click.echo(text, nl=False)
        return
    beside = f"{place}.{os.getpid()}.part"
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        whole = not add and (not os.path.exists(place) or os.path.isfile(place))
        target = beside if whole else place
        with open(target, "a" if add else "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
        if whole:
            os.replace(beside, os.path.realpath(place))
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise KataError(f"{place} cannot be written: {error.strerror}") from None


@grade.command()
@click.argument("ledger", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    "place",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.html",
    help="Where the page goes, and the table beside it.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="LEDGER",
    help="Compare with the last grading of another ledger.",
)
@click.option(
    "--anonymous", is_flag=True, help="Numbers for names: to show in class. They stay the same."
)
@katas_option
def report(ledger: Path | None, place: Path | None, against: Path | None, anonymous: bool) -> None:
    """How the class did: an HTML page, a CSV, and the essentials here.

    LEDGER is what `kata grade CLASS` keeps; the only NAME-grades.db of this folder if not told.
    Which misconceptions the class has, who is stuck where, what could not be graded, odd things
    that code did, code of the same form; and first of all grades that changed since the grading
    before (or that of --against) though the code did not. The page loads nothing and sends nothing.
    """
    from attention_katas.grading.ledger import Ledger
    from attention_katas.grading.report import page as pages
    from attention_katas.grading.report import screen as shown
    from attention_katas.grading.report import table as tables
    from attention_katas.grading.report.findings import report_on

    file = ledger or _only_ledger()
    page = _page_path(place, file, anonymous)
    with contextlib.ExitStack() as opened:
        now = opened.enter_context(Ledger(file, new=False, reading=True))
        old = opened.enter_context(Ledger(against, new=False, reading=True)) if against else None
        opened.enter_context(waiting("reading the ledger ..."))
        found = report_on(now, load(), old, anonymous)
    table = page.with_suffix(".csv")
    _put(table, tables.render(found), "utf-8-sig")  # by its mark Excel knows it
    _put(page, pages.render(found, table.name))
    out = screen()
    shown.show(out, found)
    for path in (page, table):
        out.item(out.signs.passed, "green", str(path))


def _only_ledger() -> Path:
    """The ledger of this folder. Raises KataError unless there is just one."""
    there = sorted(Path().glob("*-grades.db"))
    if not there:
        raise KataError(
            "there is no NAME-grades.db here", "kata grade CLASS, or kata grade report LEDGER"
        )
    if len(there) > 1:
        names = ", ".join(map(str, there))
        raise KataError(
            f"there are several ledgers here: {names}",
            f"kata grade report {shlex.quote(str(there[0]))}",
        )
    return there[0]


def _page_path(out: Path | None, ledger: Path, anonymous: bool) -> Path:
    """Where the page goes. Raises KataError for a file that is no page."""
    if out is not None and not out.is_dir() and out.suffix:
        if out.suffix.lower() not in (".html", ".htm"):
            raise KataError(f"--out {out} is neither a folder nor a page", "--out report.html")
        return out
    name = f"{ledger.stem.removesuffix('-grades')}-report{'-anonymous' if anonymous else ''}.html"
    return (out or Path()) / name


def _put(path: Path, content: str, encoding: str = "utf-8") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding=encoding, errors="backslashreplace", newline="\n")
    except OSError as error:
        raise KataError(f"{path} cannot be written: {error.strerror}") from None


grade.add_command(scheduler)
grade.add_command(worker)
