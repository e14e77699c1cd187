"""`kata checkpoint`: judge everything, write a certificate."""

from __future__ import annotations

import os

import click

from attention_katas.cli.options import cold_option, device_option
from attention_katas.cli.run import files_of, judge
from attention_katas.cli.shared import katas_option, load, screen
from attention_katas.errors import KataError
from attention_katas.packs import workspace
from attention_katas.verdict import data as v


@click.command()
@device_option
@cold_option
@katas_option
@click.pass_context
def checkpoint(ctx: click.Context, device: str, cold: bool) -> None:
    """Judge everything again; write a certificate.

    All katas are judged on fresh seeds. The certificate (Markdown and JSON, in your workspace)
    says what passed, with the seeds to repeat it. Exit code 0 when every kata passed.
    """
    from datetime import date

    from attention_katas import certificate

    katas, space, out = load(), workspace.find(), screen()
    files = files_of(space, katas.ready)
    verdicts = judge(katas, files, space, device=device, cold=cold)
    out.summary(verdicts)
    if v.exit_code(verdicts) == 3:
        raise KataError("no certificate is written: not everything could be graded", "kata doctor")
    for path in certificate.write(space.root, verdicts, date.today()):
        out.line(f"{out.signs.passed} {os.path.relpath(path)}", indent=2)
    out.line()
    missing = next((verdict for verdict in verdicts if verdict.outcome != v.PASSED), None)
    out.next_step(f"kata run {missing.kata}" if missing else "be proud of it")
    ctx.exit(v.exit_code(verdicts))
