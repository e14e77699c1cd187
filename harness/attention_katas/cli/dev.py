"""`kata dev new` and `kata dev check`: for people who write katas."""

from __future__ import annotations

import contextlib
import os

import click

from attention_katas.cli.shared import (
    Group,
    complete_names,
    katas_option,
    screen,
    selection,
    waiting,
)
from attention_katas.errors import KataError
from attention_katas.packs.catalog import content_root, load_catalog


@click.group(cls=Group)
def dev() -> None:
    """For people who write katas."""


@dev.command()
@click.argument("name")
@katas_option
def new(name: str) -> None:
    """Make the folder of a new kata, with all its files."""
    from attention_katas.dev.new import new_kata

    out = screen()
    out.line()
    named = selection()
    if len(named.folders) > 1:
        raise KataError("a kata goes into one pack", "give one folder")
    folder = named.folders[0] if named.folders else content_root() / "katas"
    for path in new_kata(load_catalog(named), folder, name):
        out.item(out.signs.passed, "green", os.path.relpath(path))
    out.line()
    out.next_step(f"write it, then kata dev check {name}")


@dev.command()
@click.argument("names", nargs=-1, shell_complete=complete_names)
@katas_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Check katas: references pass, mistakes fail.

    Stubs have to be "not started"."""
    from attention_katas.dev.check import check_kata, content_problems
    from attention_katas.service.local import open_judge

    katas, out = load_catalog(selection()), screen()
    for refusal in katas.refusals:
        out.line(f"{refusal.pack}: not used", "bold")
        out.item(out.signs.failed, "red", refusal.reason)
    count = len(katas.refusals)
    packs = katas.named_packs if katas.selection.folders else katas.packs
    subjects = [katas[name] for name in names]
    subjects = subjects or [kata for kata in katas.katas if kata.pack in packs]
    for kata in subjects:
        if not kata.ready:
            out.line(f"{kata.name}: {kata.waits_for}", "bold")
            problems = content_problems(kata)
            for problem in problems:
                out.item(out.signs.failed, "red", problem)
            count += len(problems)
    subjects, reports = [kata for kata in subjects if kata.ready], {}
    with contextlib.ExitStack() as stack:
        status = stack.enter_context(waiting("checking ..."))
        judge = stack.enter_context(open_judge(katas, subjects)) if subjects else None
        for kata in subjects:
            assert judge is not None
            status(f"checking {kata.name} ...")
            reports[kata.name] = check_kata(katas, kata, judge)
    for name, report in reports.items():
        out.line(f"{name}: {report.summary}", "bold")
        for problem in report.problems:
            out.item(out.signs.failed, "red", problem)
        count += len(report.problems)
    out.line()
    out.line(
        "all good" if not count else f"{count} problem{'s' * (count > 1)}",
        "green" if not count else "red",
    )
    ctx.exit(1 if count else 0)
