"""`kata init`: a workspace of stubs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from shlex import quote

import click
from click.core import ParameterSource

from attention_katas.cli.shared import katas_option, load, name_packs_by_whole_paths, screen
from attention_katas.errors import NoWorkspace
from attention_katas.packs import workspace


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
    space, new, existing = workspace.create(folder, katas)
    out.line()
    out.line(f"Your workspace is {folder}{'' if new else ' already'}", "bold")
    for name in new:
        out.line(f"{out.signs.passed} {name}", indent=2)
    for name in existing:
        out.line(f"{out.signs.waiting} {name}  (left as it is)", "dim", indent=2)
    out.line()
    inside = Path.cwd().resolve().is_relative_to(space.root)
    stay = inside or folder == Path(workspace.DEFAULT)
    enter = "" if stay else f"cd {quote(str(folder))}, then "
    if enter:
        name_packs_by_whole_paths(ctx)
    first = next(iter(katas.ready), None)
    out.next_step(f"{enter}kata show {first.name}" if first else "kata list")
