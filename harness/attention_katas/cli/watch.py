"""The command that judges after every save."""

from __future__ import annotations

import gc
import sys
import threading
import warnings

import click

from attention_katas.cli.options import device_option
from attention_katas.cli.shared import (
    complete,
    complete_names,
    katas_option,
    load,
    progress_of,
    say,
    screen,
)
from attention_katas.packs import workspace

CLOSING_SECONDS = 5.0


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@device_option
@click.option("--plain", is_flag=True, help="Lines instead of a screen: for screen readers, logs.")
@click.option("--poll", is_flag=True, help="Look for saves again and again; wait for no events.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--spawn", is_flag=True, hidden=True, help="As on systems that cannot fork.")
@katas_option
@click.pass_context
def watch(
    ctx: click.Context,
    name: str | None,
    device: str,
    plain: bool,
    poll: bool,
    no_mouse: bool,
    spawn: bool,
) -> None:
    """Judge after every save: the next kata, or NAME.

    Save the file of another kata to go to it. The last line shows the keys. With --plain (the
    default without a terminal) you type a letter and Enter; ? and Enter lists the letters. q or
    Ctrl-C ends it.
    """
    katas, space = load(), workspace.find()
    plain = plain or not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())
    if not plain:
        from attention_katas.watch import terminal

        problem = terminal.problem()
        if problem:
            plain = True
            say(f"{problem}, so lines are printed, as with --plain")
    from attention_katas.service import open_service
    from attention_katas.watch.saves import Saves
    from attention_katas.watch.session import Session

    gc.enable()  # switched off for commands that are soon over
    # Of a learner's source that is only parsed here; the verdict says what there is to say.
    warnings.simplefilter("ignore", SyntaxWarning)
    progress = progress_of(space, katas)
    progress.patience = 1.0  # the next save is not to wait for it
    service = open_service(katas, device=device, spawn=spawn)
    session = Session(katas, space, progress, service, name)
    names = [kata.file for kata in katas.ready]
    saves = Saves(space.root, names, session.saved, session.polls, poll=poll)

    def start() -> None:
        saves.start()
        session.start()

    def whole(step: str) -> str:
        with ctx.scope(cleanup=False):  # click knows its context in one thread only
            return complete(step)

    try:
        if plain:
            from attention_katas.watch.plain import run as run_plain

            out = screen()
            out.complete = whole
            run_plain(session, out, start)
        else:
            from attention_katas.watch.app import run as run_app
            from attention_katas.watch.view import done

            run_app(session, start, whole, mouse=not no_mouse)
            out = screen()
            out.line(done(session), "bold")
            out.next_step("kata watch")
    finally:
        saves.stop()
        # A judge that is only just starting cannot be stopped at once; nobody waits for that.
        closing = threading.Thread(target=session.close, daemon=True)
        closing.start()
        closing.join(CLOSING_SECONDS)
