"""The command that opens the lab in the browser."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from attention_katas.cli.shared import katas_option, load, progress_of, say
from attention_katas.errors import KataError
from attention_katas.packs import workspace

if TYPE_CHECKING:
    from attention_katas.lab.open_browser import RedirectFile

PORT = 8137


def _close_when_ended(redirects: list[RedirectFile]) -> None:
    """Leave no file behind, also where somebody ends this process or closes its terminal."""

    def end(number: int, _: Any) -> None:
        for redirect in redirects:
            redirect.close()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end)


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    help=f"Where it listens: {PORT}, or any that is free; 0 takes any.",
)
@click.option("--no-browser", is_flag=True, help="Print the address; open nothing.")
@click.option(
    "--export",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the page as one file, with the reference's numbers, and end.",
)
@click.option("--poll", is_flag=True, help="Look for saves again and again; wait for no events.")
@click.option("--no-judge", is_flag=True, help="Pictures only, no verdicts beside them.")
@click.option("--spawn", is_flag=True, hidden=True, help="As on systems that cannot fork.")
@katas_option
def lab(
    port: int | None, no_browser: bool, export: Path | None, poll: bool, no_judge: bool, spawn: bool
) -> None:
    """Open pictures that your own functions compute.

    Every number on the page comes from your files, read again at every save. It serves this machine
    only; Ctrl-C ends it. With --export DIR it writes lab.html instead, which needs no server.
    """
    if export is not None:
        from attention_katas.lab.export import write

        click.echo(f"wrote {write(export)}")
        return
    katas, space = load(), workspace.find()
    progress = progress_of(space, katas)
    gc.enable()  # switched off for commands that are soon over
    warnings.simplefilter("ignore", SyntaxWarning)  # of a learner's source that is parsed here
    from attention_katas.lab import server

    try:
        listening = server.listen(PORT if port is None else port)
    except OSError as error:
        if port is not None:
            raise KataError(
                f"port {port} is not available: {error.strerror}", "kata lab --port 0"
            ) from None
        listening = server.listen(0)
    # A judge in this process (where there is no daemon) has pytest catch what is printed.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="backslashreplace")
    click.echo("starting: your functions are being loaded ...", file=out)
    from attention_katas.lab.lab import Lab
    from attention_katas.lab.open_browser import RedirectFile
    from attention_katas.service import open_service

    service = None if no_judge else open_service(katas, device="cpu", spawn=spawn)
    running = Lab(katas, space, service, progress, spawn=spawn, poll=poll)

    redirects: list[RedirectFile] = []

    def started(address: str) -> None:
        click.echo(f"the lab is open:  {address}", file=out)
        click.echo(
            "It follows your files: save one and the pictures change. Ctrl-C ends it.", file=out
        )
        if no_browser:
            return

        def failed() -> None:
            say("no browser opened by itself", f"open {address}")

        try:
            redirects.append(RedirectFile(address))
        except OSError:  # nowhere to put a file
            failed()
        else:
            redirects[0].open(running.opened, failed)

    _close_when_ended(redirects)
    try:
        running.start()
        server.serve(running, listening, started)
    except KeyboardInterrupt:
        pass
    finally:
        for redirect in redirects:
            redirect.close()
        running.close()
    click.echo("\nthe lab is closed", file=out)
