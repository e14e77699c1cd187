"""`kata solution`: a reference solution."""

from __future__ import annotations

import click

from attention_katas.cli.shared import (
    complete_names,
    katas_option,
    load,
    progress_of,
    ready,
    screen,
)
from attention_katas.errors import KataError, NoWorkspace
from attention_katas.packs import workspace


@click.command()
@click.argument("name", shell_complete=complete_names)
@click.option("--peek", is_flag=True, help="Show it before you have passed.")
@katas_option
def solution(name: str, peek: bool) -> None:
    """A reference solution, once you have passed the kata."""
    katas, out = load(), screen()
    kata = ready(katas[name])
    passed, reason = None, f"you have not passed {kata.name} yet"
    try:
        passed = progress_of(workspace.find(), katas).first_pass(kata.name)
    except NoWorkspace as error:
        reason = f"{error.message}, so there is no record of a pass"
    if not passed and not peek:
        raise KataError(reason, f"kata hint {kata.name}, or kata solution {kata.name} --peek")
    out.line()
    out.line(f"{kata.name}: one right answer among many", "bold")
    out.line()
    out.code(kata.reference.read_text(encoding="utf-8"))
    out.line()
    out.next_step("kata list" if passed else f"kata run {kata.name}")
