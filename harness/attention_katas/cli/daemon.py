"""`kata daemon`: what is left behind so that the next run is fast."""

from __future__ import annotations

from datetime import datetime

import click

from attention_katas.cli.shared import Group, say, screen


@click.group(cls=Group)
def daemon() -> None:
    """The process in the background that makes `kata run` fast.

    The first `kata run` leaves it behind, with PyTorch loaded; later ones ask it, and take a
    fraction of the time. It serves you alone, through a private socket, and ends by itself after
    15 minutes without work. --cold or KATA_COLD=1 does without; CI never starts one.
    """


@daemon.command()
def status() -> None:
    """Whether a daemon runs, since when, and what it takes."""
    from attention_katas.service.daemon import control
    from attention_katas.service.daemon.address import address

    out, why_not, where = screen(), control.why_not(), address()
    report = control.status(where) if where else None
    if where is None or report is None:
        out.line("No daemon is running.", "bold")
        next_run = "The next kata run leaves one behind."
        out.line(f"None is used here: {why_not}." if why_not else next_run)
        return
    since = datetime.fromtimestamp(report.started).strftime("%H:%M:%S")
    verdicts = "1 verdict" if report.judged == 1 else f"{report.judged} verdicts"
    warming = "" if report.warm else ", and warming up"
    out.line(f"The daemon is running, since {since}{warming}.", "bold")
    out.field("process", str(report.pid), indent=2, width=10)
    out.field("made", verdicts, indent=2, width=10)
    if report.memory_mb:
        out.field("memory", f"{report.memory_mb:.0f} MB", indent=2, width=10)
    more = sum(control.status(each) is not None for each in where.all()) - 1
    if more:
        out.field("more", f"{more}, for other versions or environments", indent=2, width=10)
    seconds = report.idle_seconds_left
    ends = (
        "not while it is in use" if seconds is None else f"in {seconds / 60:.0f} min without work"
    )
    out.field("ends", ends, indent=2, width=10)
    if why_not:
        say(f"kata run does without it: {why_not}")
    out.next_step("kata daemon stop")


@daemon.command()
def stop() -> None:
    """End the daemon. The next `kata run` leaves a new one behind."""
    from attention_katas.service.daemon import control
    from attention_katas.service.daemon.address import address

    where = address()
    stopped = where is not None and control.stop(where)
    screen().line("The daemon has ended." if stopped else "No daemon is running.")
