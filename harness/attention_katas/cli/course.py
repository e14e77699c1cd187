"""Commands that do not judge: init, list, show, hint, solution, reset, progress."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from shlex import quote

import click
from click.core import ParameterSource

from attention_katas.cli.shared import (
    complete_names,
    katas_option,
    load,
    progress_of,
    say,
    screen,
    states_of,
    tell_notice,
    unless_unavailable,
)
from attention_katas.errors import KataError, NoWorkspace, ProgressUnavailable
from attention_katas.packs import workspace
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.progress import DONE


@click.command()
@click.argument("folder", default=workspace.DEFAULT, type=click.Path(path_type=Path))
@katas_option
@click.pass_context
def init(ctx: click.Context, folder: Path) -> None:
    """Make FOLDER (my-katas) a workspace: one stub for each kata.

    Files that are there already are left as they are. Inside a workspace and without a FOLDER,
    this workspace is brought up to date.
    """
    katas, out = load(), screen()
    if ctx.get_parameter_source("folder") is ParameterSource.DEFAULT:
        with contextlib.suppress(NoWorkspace):
            folder = Path(os.path.relpath(workspace.find().root))
    space, made, kept = workspace.create(folder, katas)
    out.line()
    out.line(f"Your workspace is {folder}{'' if made else ' already'}", "bold")
    for name in made:
        out.line(f"{out.signs.passed} {name}", indent=2)
    for name in kept:
        out.line(f"{out.signs.waiting} {name}  (left as it is)", "dim", indent=2)
    out.line()
    here = Path.cwd().resolve().is_relative_to(space.root)
    go = "" if here or folder == Path(workspace.DEFAULT) else f"cd {quote(str(folder))}, then "
    first = next((kata for kata in katas.ready), None)
    out.next_step(f"{go}kata show {first.name}" if first else "kata list")


@click.command("list")
@katas_option
def list_katas() -> None:
    """All katas, in order, and where you stand."""
    katas, out = load(), screen()
    try:
        states = states_of(katas, workspace.find())
    except NoWorkspace as error:
        out.katas(katas, {})
        out.next_step(error.next_step)
        return
    except ProgressUnavailable as error:
        out.katas(katas, {})
        say(error.message, error.next_step)
        return
    out.katas(katas, states)
    from attention_katas.packs.progress import next_kata

    following = next_kata(katas.ready, states)
    out.next_step(f"kata run {following.name}" if following else "kata checkpoint")


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@katas_option
def show(name: str | None) -> None:
    """What a kata asks for, and why: the next kata, or NAME."""
    from attention_katas.render.terminal import paragraphs

    katas, out = load(), screen()
    kata = _ready(katas[name or _next_name(katas)])
    out.line()
    out.line(f"{kata.name}: {kata.blurb}", "bold")
    out.line()
    out.line(paragraphs(kata.lesson().get("Why", "")), indent=2)
    out.line()
    out.code(kata.stub.read_text(encoding="utf-8"))
    out.line()
    if kata.banned:
        public = " and ".join(family.title for family in kata.banned)
        out.line(
            f"Yours to write, so switched off here: PyTorch's built-in {public}.", "dim", indent=2
        )
    if kata.out_of_scope:
        out.line(f"Not judged: {'; '.join(kata.out_of_scope)}.", "dim", indent=2)
    out.line()
    file = kata.file
    with contextlib.suppress(NoWorkspace):
        file = workspace.find().shown(kata)
    out.next_step(f"write {file}, then kata run {kata.name}")


def _next_name(katas: Catalog) -> str:
    """The kata that is meant when none is named: the next one, or the last."""
    from attention_katas.packs.progress import next_kata

    current = next_kata(katas.ready, states_of(katas, workspace.find()))
    return current.name if current else katas.ready[-1].name


def _ready(kata: Kata) -> Kata:
    if not kata.ready:
        raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
    return kata


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--level", type=click.IntRange(1), help="This rung, instead of the next one.")
@katas_option
def hint(name: str | None, level: int | None) -> None:
    """The next hint for the next kata, or for NAME.

    Each kata has a few, from where to look to almost there; --level shows a certain one.
    """
    from attention_katas.render.terminal import paragraphs

    katas, out = load(), screen()
    kata = _ready(katas[name or _next_name(katas)])
    ladder = kata.hints()
    if not ladder:
        raise KataError(f"{kata.name} has no hints yet", f"kata show {kata.name}")
    progress, shown = None, 0
    with contextlib.suppress(NoWorkspace, ProgressUnavailable):
        progress = progress_of(workspace.find(), katas)
        shown = progress.hint_level(kata.name)
        tell_notice(progress)
    level = level or min(shown + 1, len(ladder))
    if level > len(ladder):
        raise KataError(f"{kata.name} has {len(ladder)} hints", f"kata hint {kata.name} --level 1")
    title, text = ladder[level - 1]
    out.line()
    out.line(f"{kata.name}, hint {level} of {len(ladder)}: {title}", "bold")
    out.line()
    out.line(paragraphs(text), indent=2)
    out.line()
    if progress is not None:
        with unless_unavailable():
            progress.set_hint_level(kata.name, max(level, shown))
    if level == len(ladder):
        out.line("This was the last hint.", "dim", indent=2)
    following = f"kata hint {kata.name}" + (
        "" if progress and level > shown else f" --level {level + 1}"
    )
    out.next_step(f"kata run {kata.name}" + (f"\n{following}" if level < len(ladder) else ""))


@click.command()
@click.argument("name", shell_complete=complete_names)
@click.option("--peek", is_flag=True, help="Show it before you have passed.")
@katas_option
def solution(name: str, peek: bool) -> None:
    """A reference solution, once you have passed the kata."""
    katas, out = load(), screen()
    kata = _ready(katas[name])
    passed, why = None, f"you have not passed {kata.name} yet"
    try:
        passed = progress_of(workspace.find(), katas).first_pass(kata.name)
    except NoWorkspace as error:
        why = f"{error.message}, so there is no record of a pass"
    if not passed and not peek:
        raise KataError(why, f"kata hint {kata.name}, or kata solution {kata.name} --peek")
    out.line()
    out.line(f"{kata.name}: one right answer among many", "bold")
    out.line()
    out.code(kata.reference.read_text(encoding="utf-8"))
    out.line()
    out.next_step("kata list" if passed else f"kata run {kata.name}")


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--all", "everything", is_flag=True, help="Reset every kata.")
@katas_option
def reset(name: str | None, everything: bool) -> None:
    """Put the stub of a kata back. What you wrote is kept in .kata/backups/."""
    katas, out = load(), screen()
    if bool(name) == everything:
        raise click.UsageError("which kata? Give its name, or --all.")
    space = workspace.find()
    for kata in katas.ready if everything else [_ready(katas[name or ""])]:
        backup = space.reset(kata)
        kept = f"; yours is kept as {os.path.relpath(backup)}" if backup else ""
        out.line(f"{space.shown(kata)} is the stub{' again' if backup else ''}{kept}")
    out.line()
    out.next_step(f"kata run {name}" if name else "kata list")


@click.command()
@katas_option
def progress() -> None:
    """What you have tried and passed."""
    katas, space, out = load(), workspace.find(), screen()
    states = states_of(katas, space)
    out.katas(katas, states)
    for kata in katas.ready:
        state = states[kata.name]
        if state.attempts:
            first = f", first passed {state.first_pass}" if state.first_pass else ""
            tries = "1 attempt" if state.attempts == 1 else f"{state.attempts} attempts"
            out.line(f"{kata.name}: {tries}{first}", "dim", indent=2)
    out.line()
    done = all(state.name == DONE for state in states.values())
    out.next_step("kata checkpoint" if done else "kata run")
