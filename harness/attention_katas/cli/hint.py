"""`kata hint`: the next hint for a kata."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from attention_katas.cli.shared import (
    complete_names,
    katas_option,
    load,
    next_name,
    progress_of,
    ready,
    screen,
    tell_notice,
    unless_unavailable,
)
from attention_katas.errors import KataError, NoWorkspace, ProgressUnavailable
from attention_katas.packs import workspace

if TYPE_CHECKING:
    from attention_katas.packs.catalog import Catalog, Kata
    from attention_katas.packs.progress import Progress
    from attention_katas.render.terminal import Screen


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--level", type=click.IntRange(1), help="This hint, instead of the next one.")
@katas_option
def hint(name: str | None, level: int | None) -> None:
    """The next hint for the next kata, or for NAME.

    The hints go from "Where to look" to "Almost there"; --level shows a certain one.
    """
    katas, out = load(), screen()
    kata = ready(katas[name or next_name(katas)])
    hints = kata.hints()
    if not hints:
        raise KataError(f"{kata.name} has no hints yet", f"kata show {kata.name}")
    progress, previous = _hints_so_far(katas, kata)
    level = level or min(previous + 1, len(hints))
    if level > len(hints):
        raise KataError(f"{kata.name} has {len(hints)} hints", f"kata hint {kata.name} --level 1")
    _print(out, kata, hints, level)
    if progress is not None:
        with unless_unavailable():
            progress.set_hint_level(kata.name, max(level, previous))
    steps = [f"kata run {kata.name}"]
    if level < len(hints):
        is_recorded = progress is not None and level > previous
        steps.append(f"kata hint {kata.name}" + ("" if is_recorded else f" --level {level + 1}"))
    out.next_step("\n".join(steps))


def _hints_so_far(katas: Catalog, kata: Kata) -> tuple[Progress | None, int]:
    """The record of the workspace, if there is one, and the level of the last hint shown."""
    with contextlib.suppress(NoWorkspace, ProgressUnavailable):
        progress = progress_of(workspace.find(), katas)
        level = progress.hint_level(kata.name)
        tell_notice(progress)
        return progress, level
    return None, 0


def _print(out: Screen, kata: Kata, hints: list[tuple[str, str]], level: int) -> None:
    from attention_katas.render.terminal import paragraphs

    title, text = hints[level - 1]
    out.line()
    out.line(f"{kata.name}, hint {level} of {len(hints)}: {title}", "bold")
    out.line()
    out.line(paragraphs(text), indent=2)
    out.line()
    if level == len(hints):
        out.line("This was the last hint.", "dim", indent=2)
