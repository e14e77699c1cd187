"""`kata reset`: put stubs back."""

from __future__ import annotations

import os

import click

from attention_katas.cli.shared import complete_names, katas_option, load, ready, screen
from attention_katas.packs import workspace


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
    for kata in katas.ready if everything else [ready(katas[name or ""])]:
        backup = space.reset(kata)
        note = f"; yours is kept as {os.path.relpath(backup)}" if backup else ""
        out.line(f"{space.shown(kata)} is the stub{' again' if backup else ''}{note}")
    out.line()
    out.next_step(f"kata run {name}" if name else "kata list")
