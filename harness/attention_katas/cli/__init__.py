"""The `kata` command: parse, call, render. The only part that knows click.

Everything that costs time to import is imported where it is used: `kata --help` and every
command that does not judge start without torch and without pytest.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Any

import click

from attention_katas import __version__
from attention_katas.cli.checkpoint import checkpoint
from attention_katas.cli.classroom import classroom
from attention_katas.cli.daemon import daemon
from attention_katas.cli.dev import dev
from attention_katas.cli.doctor import doctor
from attention_katas.cli.grade import grade
from attention_katas.cli.hint import hint
from attention_katas.cli.init import init
from attention_katas.cli.lab import lab
from attention_katas.cli.list import list_katas
from attention_katas.cli.progress import progress
from attention_katas.cli.reset import reset
from attention_katas.cli.run import run
from attention_katas.cli.shared import Group
from attention_katas.cli.show import show
from attention_katas.cli.solution import solution
from attention_katas.cli.watch import watch
from attention_katas.errors import KataError


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="kata")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Build attention in six katas, judged as you write them.

    \b
    kata init        make a folder of stubs
    kata show NAME   what a kata asks for, and why
    kata run         judge the next kata
    kata watch       judge it after every save
    kata hint NAME   a nudge in the right direction
    """
    try:
        os.getcwd()
    except OSError as error:
        message = f"the folder you are in cannot be used: {error.strerror}"
        raise KataError(message, "go to your workspace with cd") from None
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


COMMANDS = (
    init,
    list_katas,
    show,
    run,
    watch,
    hint,
    reset,
    solution,
    progress,
    checkpoint,
    grade,
    classroom,
    lab,
    doctor,
    daemon,
    dev,
)
for command in COMMANDS:
    main.add_command(command)


def entry() -> None:
    """`kata` on the command line: `main`, without taking everything down piece by piece."""
    gc.disable()  # a command is over before its garbage matters, and imports look for it often
    for stream in (sys.stdout, sys.stderr):
        # What this terminal cannot show is written out in escapes, instead of stopping us.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code: Any = 0
    try:
        main(prog_name="kata")
    except SystemExit as stop:
        code = stop.code
    if code is not None and not isinstance(code, int):
        sys.exit(code)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        sys.exit(code)
    os._exit(code or 0)
