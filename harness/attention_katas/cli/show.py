"""`kata show`: what a kata asks for."""

from __future__ import annotations

import contextlib

import click

from attention_katas.cli.shared import complete_names, katas_option, load, next_name, ready, screen
from attention_katas.errors import NoWorkspace
from attention_katas.packs import workspace


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@katas_option
def show(name: str | None) -> None:
    """What a kata asks for, and why: the next kata, or NAME."""
    from attention_katas.render.terminal import paragraphs

    katas, out = load(), screen()
    kata = ready(katas[name or next_name(katas)])
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
