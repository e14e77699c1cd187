"""`kata list`: all katas."""

from __future__ import annotations

import click

from attention_katas.cli.shared import katas_option, load, say, screen, states_of
from attention_katas.errors import NoWorkspace, ProgressUnavailable
from attention_katas.packs import workspace


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
