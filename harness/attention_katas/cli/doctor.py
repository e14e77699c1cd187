"""`kata doctor`."""

from __future__ import annotations

import click

from attention_katas.cli.shared import katas_option, load, screen, waiting


@click.command()
@katas_option
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check this installation and its sandbox restrictions."""
    from attention_katas import doctor as examination

    out = screen()
    with waiting("trying every restriction and every ban, about ten seconds ..."):
        findings = examination.examine(load())
    out.line()
    for finding in findings:
        sign, style = (out.signs.passed, "green") if finding.good else (out.signs.failed, "red")
        out.item(sign, style, f"{finding.name}: {finding.detail}")
    out.line()
    good = all(finding.good or not finding.required for finding in findings)
    out.next_step("kata run" if good else "fix what is marked, then kata doctor")
    ctx.exit(0 if good else 3)
