"""`kata progress`: what you have tried and passed."""

from __future__ import annotations

import click

from attention_katas.cli.shared import katas_option, load, screen, states_of
from attention_katas.packs import workspace
from attention_katas.packs.progress import DONE


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
    if any(state.attempts for state in states.values()):
        out.line()
    all_done = all(state.name == DONE for state in states.values())
    out.next_step("kata checkpoint" if all_done else "kata run")
