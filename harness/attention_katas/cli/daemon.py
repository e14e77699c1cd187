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
    from attention_katas.service.daemon import client
    from attention_katas.service.daemon.address import address

    out, why, where = screen(), client.why_not(), address()
    found = client.ask(where, "status") if where else None
    if found is None:
        out.line("No daemon is running.", "bold")
        out.line(f"None is used here: {why}." if why else "The next kata run leaves one behind.")
        return
    since = datetime.fromtimestamp(found["started"]).strftime("%H:%M:%S")
    judged = "1 verdict" if found["judged"] == 1 else f"{found['judged']} verdicts"
    begun = "" if found["warm"] else ", and warming up"
    out.line(f"The daemon is running, since {since}{begun}.", "bold")
    out.field("process", str(found["pid"]), indent=2, width=10)
    out.field("made", judged, indent=2, width=10)
    if found["memory_mb"]:
        out.field("memory", f"{found['memory_mb']:.0f} MB", indent=2, width=10)
    more = sum(client.ask(each, "status") is not None for each in where.all()) - 1 if where else 0
    if more:
        out.field("more", f"{more}, for other versions or environments", indent=2, width=10)
    left = found["idle_seconds_left"]
    ends = "not while it is in use" if left is None else f"in {left / 60:.0f} min without work"
    out.field("ends", ends, indent=2, width=10)
    if why:
        say(f"kata run does without it: {why}")
    out.next_step("kata daemon stop")


@daemon.command()
def stop() -> None:
    """End the daemon. The next `kata run` leaves a new one behind."""
    from attention_katas.service.daemon import client
    from attention_katas.service.daemon.address import address

    where = address()
    stopped = where is not None and client.stop(where)
    screen().line("The daemon has ended." if stopped else "No daemon is running.")
