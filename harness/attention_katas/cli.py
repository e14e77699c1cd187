"""The `kata` command: parse, call, render. The only module that knows click.

Everything that costs time to import is imported where it is used: `kata --help` and every
command that does not judge start without torch and without pytest.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas import __version__, catalog, workspace
from attention_katas import verdict as v
from attention_katas.catalog import Catalog, Kata
from attention_katas.errors import KataError, NoWorkspace, ProgressUnavailable

if TYPE_CHECKING:
    from attention_katas.progress import Progress, State
    from attention_katas.reports.terminal import Screen
    from attention_katas.workspace import Workspace


class Group(click.Group):
    """Turns our errors into a message, a next step and an exit code; never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KataError as error:
            click.echo(f"kata: {error.message}", err=True)
            if error.next_step:
                click.echo(f"next:  {error.next_step}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("\nkata: stopped", err=True)
            ctx.exit(130)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if near:
                message = f"{error.message} Did you mean {near[0]!r}?"
                raise click.UsageError(message, ctx) from None
            raise


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kata")
def main() -> None:
    """Build attention in six small functions, judged as you write them.

    \b
    kata init        make a folder of stubs
    kata run         judge the next kata
    kata hint NAME   a nudge in the right direction
    """


def entry() -> None:
    """`kata` on the command line: `main`, without taking torch down piece by piece at the end."""
    code: Any = 0
    try:
        main(prog_name="kata")
    except SystemExit as stop:
        code = stop.code
    if not isinstance(code, int) or "torch" not in sys.modules:
        sys.exit(code)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _screen() -> Screen:
    from attention_katas.reports.terminal import Screen

    return Screen()


def _progress(space: Workspace) -> Progress:
    from attention_katas.progress import Progress

    return Progress(space.progress_file)


def _states(katas: Catalog, space: Workspace) -> dict[str, State]:
    """Where every kata stands, from the progress file and the learner's files as they are."""
    from attention_katas.submission import Unreadable, submission

    progress, states = _progress(space), {}
    for kata in katas.ready:
        try:
            digest = submission(katas, kata, space.path(kata)).digest
        except (OSError, Unreadable):
            digest = ""
        states[kata.name] = progress.state(kata.name, kata.version, digest)
    if progress.notice:
        click.echo(f"kata: {progress.notice}", err=True)
    return states


@contextlib.contextmanager
def _waiting(text: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes long."""
    from attention_katas.reports.terminal import console

    out = console(sys.stderr)
    if not out.is_terminal or out.is_dumb_terminal:
        yield
        return
    with out.status(text, spinner="dots" if out.encoding.startswith("utf") else "line"):
        yield


@main.command()
@click.argument("folder", default=workspace.DEFAULT, type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make FOLDER (my-katas) a workspace: one stub for each kata.

    Files that are there already are left as they are.
    """
    space, made, kept = workspace.create(folder, catalog.load_catalog())
    screen = _screen()
    screen.line()
    screen.line(f"Your workspace is {folder}{'' if made else ' already'}", "bold")
    for name in made:
        screen.line(f"{screen.signs.passed} {name}", indent=2)
    for name in kept:
        screen.line(f"{screen.signs.waiting} {name}  (left as it is)", "dim", indent=2)
    screen.line()
    first = catalog.load_catalog().ready[0]
    here = space.root == Path.cwd().resolve()
    go = "" if here or folder == Path(workspace.DEFAULT) else f"cd {folder}, then "
    screen.next_step(f"{go}kata show {first.name}")


@main.command("list")
def list_katas() -> None:
    """All katas, in order, and where you stand."""
    katas, screen = catalog.load_catalog(), _screen()
    try:
        states = _states(katas, workspace.find())
    except NoWorkspace as error:
        screen.katas(katas, {})
        screen.next_step(error.next_step)
        return
    screen.katas(katas, states)
    from attention_katas.reports.terminal import next_kata

    following = next_kata(katas, states)
    screen.next_step(f"kata run {following.name}" if following else "all done: kata progress")


@main.command()
@click.argument("name")
def show(name: str) -> None:
    """What a kata asks for, and why it exists."""
    katas, screen = catalog.load_catalog(), _screen()
    from attention_katas.reports.terminal import paragraphs

    kata = katas[name]
    screen.line()
    screen.line(f"{kata.name}: {kata.blurb}", "bold")
    screen.line()
    if not kata.ready:
        screen.line("This kata is planned, but not in this version yet.")
        return
    screen.line(paragraphs(kata.lesson().get("Why", "")), indent=2)
    screen.line()
    screen.line(kata.stub.read_text(encoding="utf-8").rstrip(), indent=2)
    screen.line()
    if kata.banned:
        from attention_katas.banned import FAMILIES

        public = " and ".join(FAMILIES[family] for family in kata.banned)
        screen.line(f"Yours to write, so switched off here: {public}.", "dim", indent=2)
    if kata.out_of_scope:
        screen.line(f"Not judged: {'; '.join(kata.out_of_scope)}.", "dim", indent=2)
    screen.line()
    screen.next_step(f"write {kata.file}, then kata run {kata.name}")


@main.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Judge every kata.")
@click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda", "mps")),
    default="auto",
    show_default=True,
    help="Where your code runs.",
)
@click.option("--seed", type=click.IntRange(0), help="Repeat the inputs of an earlier run.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    help="Judge this file instead of your workspace's; nothing is recorded.",
)
@click.option("--spawn", is_flag=True, hidden=True, help="As on systems that cannot fork.")
@click.pass_context
def run(
    ctx: click.Context,
    names: tuple[str, ...],
    everything: bool,
    device: str,
    seed: int | None,
    form: str,
    file: Path | None,
    spawn: bool,
) -> None:
    """Judge your code for the katas NAMES (none: the next one that is not done).

    Exit code: 0 passed, 1 judged and not passed, 2 asked for something impossible, 3 could not
    grade (a fault of ours, not of your code).
    """
    katas = catalog.load_catalog()
    from attention_katas import running

    if file is not None:
        if len(names) != 1:
            raise click.UsageError("--file judges one kata: give its name.")
        space, progress = None, None
        jobs = [running.Job(katas[names[0]], file, str(file))]
    else:
        space = workspace.find()
        chosen = _chosen(katas, space, names, everything)
        jobs, progress = running.jobs_for(space, chosen), _progress(space)
    verdicts: list[v.Verdict] = []

    def tell(verdict: v.Verdict, source: str) -> None:
        verdicts.append(verdict)
        if progress is not None:
            with _unless_unavailable():
                progress.record(verdict, source)

    with _waiting("judging ..."):
        running.run(katas, jobs, device=device, seed=seed, spawn=spawn, tell=tell)
    if form == "json":
        from attention_katas.reports import json

        click.echo(json.render(verdicts))
    else:
        screen = _screen()
        for verdict in verdicts:
            kata = katas[verdict.kata]
            screen.verdict(verdict, kata, _following(katas, kata, space))
    ctx.exit(v.exit_code(verdicts))


def _chosen(
    katas: Catalog, space: Workspace, names: tuple[str, ...], everything: bool
) -> list[Kata]:
    if everything:
        return katas.ready
    if names:
        return [katas[name] for name in dict.fromkeys(names)]
    from attention_katas.reports.terminal import next_kata

    following = next_kata(katas, _states(katas, space))
    if following is None:
        raise KataError("every kata is done", "kata run --all judges them again")
    return [following]


def _following(katas: Catalog, kata: Kata, space: Workspace | None) -> str:
    """The command after a pass: the next kata that is not done."""
    if space is None:
        return ""
    from attention_katas.reports.terminal import next_kata

    with contextlib.suppress(ProgressUnavailable):
        following = next_kata(katas, _states(katas, space))
        return f"kata run {following.name}" if following else "kata progress"
    later = katas.ready[katas.ready.index(kata) + 1 :]
    return f"kata run {later[0].name}" if later else "kata progress"


@contextlib.contextmanager
def _unless_unavailable() -> Iterator[None]:
    """A verdict is worth more than its record: say that it was not kept, and go on."""
    try:
        yield
    except ProgressUnavailable as error:
        click.echo(f"kata: {error.message}", err=True)


@main.command()
@click.argument("name")
@click.option("--level", type=click.IntRange(1), help="This rung, instead of the next one.")
def hint(name: str, level: int | None) -> None:
    """The next rung of a kata's ladder of hints."""
    katas, screen = catalog.load_catalog(), _screen()
    from attention_katas.reports.terminal import paragraphs

    kata = katas[name]
    ladder = kata.hints()
    if not ladder:
        raise KataError(f"{kata.name} has no hints yet", f"kata show {kata.name}")
    progress = None
    if level is None:
        with contextlib.suppress(NoWorkspace, ProgressUnavailable):
            progress = _progress(workspace.find())
        level = min((progress.hint_level(kata.name) if progress else 0) + 1, len(ladder))
    if level > len(ladder):
        raise KataError(f"{kata.name} has {len(ladder)} hints", f"kata hint {kata.name} --level 1")
    title, text = ladder[level - 1]
    screen.line()
    screen.line(f"{kata.name}, hint {level} of {len(ladder)}: {title}", "bold")
    screen.line()
    screen.line(paragraphs(text), indent=2)
    screen.line()
    if progress is not None:
        with _unless_unavailable():
            progress.set_hint_level(kata.name, level)
    more = f", or kata hint {kata.name} for the next one" if level < len(ladder) else ""
    screen.next_step(f"kata run {kata.name}{more}")


@main.command()
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Reset every kata.")
def reset(name: str | None, everything: bool) -> None:
    """Put the stub of a kata back. What you wrote is kept in .kata/backups/."""
    katas, screen = catalog.load_catalog(), _screen()
    if not name and not everything:
        raise click.UsageError("which kata? Give its name, or --all.")
    space = workspace.find()
    for kata in katas.ready if everything else [katas[name or ""]]:
        if not kata.ready:
            raise KataError(f"{kata.name} is planned, but not in this version yet", "kata list")
        backup = space.reset(kata)
        kept = f"; yours is kept as {backup.relative_to(space.root)}" if backup else ""
        screen.line(f"{space.shown(kata)} is the stub again{kept}")
    screen.next_step(f"kata run {name}" if name else "kata list")


@main.command()
def progress() -> None:
    """What you have tried and passed."""
    katas, space, screen = catalog.load_catalog(), workspace.find(), _screen()
    states = _states(katas, space)
    screen.katas(katas, states)
    for kata in katas.ready:
        state = states[kata.name]
        if state.attempts:
            first = f", first passed {state.first_pass}" if state.first_pass else ""
            tries = "1 attempt" if state.attempts == 1 else f"{state.attempts} attempts"
            screen.line(f"{kata.name}: {tries}{first}", "dim", indent=2)
    screen.line()
    screen.next_step("kata run")


@main.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check this installation: does it judge, and which locks hold?"""
    from attention_katas import doctor as examination

    screen = _screen()
    with _waiting("looking ..."):
        findings = examination.examine(catalog.load_catalog())
    screen.line()
    for finding in findings:
        sign = screen.signs.passed if finding.good else screen.signs.failed
        style = "green" if finding.good else "red"
        from rich.text import Text

        screen.line(
            Text.assemble((f"{sign} ", style), f"{finding.name}: {finding.detail}"), indent=2
        )
    screen.line()
    good = all(finding.good or not finding.needed for finding in findings)
    screen.next_step("kata run" if good else "mend what is marked, then kata doctor")
    ctx.exit(0 if good else 3)


@main.group()
def dev() -> None:
    """For people who write katas."""


@dev.command()
@click.argument("names", nargs=-1)
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Check the katas themselves: references pass, mistakes fail, stubs are not started."""
    from attention_katas.dev.check import check_kata
    from attention_katas.running import open_judge

    katas, screen, found = catalog.load_catalog(), _screen(), 0
    chosen = [katas[name] for name in names] or katas.ready
    with _waiting("checking ..."), open_judge(katas, chosen) as judge:
        reports = [(kata, check_kata(katas, kata, judge)) for kata in chosen]
    for kata, report in reports:
        screen.line(f"{kata.name}: {report.summary}", "bold")
        for problem in report.problems:
            screen.line(f"{screen.signs.failed} {problem}", "red", indent=2)
        found += len(report.problems)
    screen.line()
    screen.line("all good" if not found else f"{found} problems", "green" if not found else "red")
    ctx.exit(1 if found else 0)
