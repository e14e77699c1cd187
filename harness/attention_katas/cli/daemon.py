"""`kata daemon`: the background process that makes the next run fast."""

from __future__ import annotations

from datetime import datetime

import click

from attention_katas.cli.shared import Group, say, screen


@click.group(cls=Group)
def daemon() -> None:
    """The process in the background that makes `kata run` fast.

    The first `kata run` starts it, and it keeps PyTorch loaded: later runs take a fraction of the
    time. It serves you alone, through a private socket, and ends by itself after
    15 minutes without work. `kata run --cold` and KATA_COLD=1 do not use it; CI never starts one.
    """


@daemon.command()
def status() -> None:
    """Say whether a daemon runs, since when, and how much memory it uses."""
    from attention_katas.service.daemon import control
    from attention_katas.service.daemon.address import address

    out, why_not, where = screen(), control.why_not(), address()
    addresses = [where, *where.all()] if where else []
    reports = {report.pid: report for report in map(control.status, addresses) if report}
    if not reports:
        out.line("No daemon is running.", "bold")
        next_run = "The next kata run starts one."
        out.line(f"This machine uses no daemon: {why_not}." if why_not else next_run)
        return
    report, *others = reports.values()
    since = datetime.fromtimestamp(report.started).strftime("%H:%M:%S")
    submissions = "1 submission" if report.judged == 1 else f"{report.judged} submissions"
    start = "" if report.warm else ", and still starting"
    out.line(f"The daemon is running, since {since}{start}.", "bold")
    out.field("process", str(report.pid), indent=2, width=10)
    out.field("judged", submissions, indent=2, width=10)
    if report.memory_mb:
        out.field("memory", f"{report.memory_mb:.0f} MB", indent=2, width=10)
    if others:
        more = f"{len(others)}, for other packs, versions or environments"
        out.field("more", more, indent=2, width=10)
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
    """End the daemon. The next `kata run` starts a new one."""
    from attention_katas.service.daemon import control
    from attention_katas.service.daemon.address import address

    where = address()
    stopped = where is not None and control.stop(where)
    screen().line("The daemon has ended." if stopped else "No daemon is running.")
