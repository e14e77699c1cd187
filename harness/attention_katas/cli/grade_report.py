"""`kata grade report`: how the class did."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path

import click

from attention_katas.cli.shared import katas_option, load, screen, waiting
from attention_katas.errors import KataError


@click.command()
@click.argument("ledger", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    "place",
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.html",
    help="Where the page goes, and the table beside it.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="LEDGER",
    help="Compare with the last grading of another ledger.",
)
@click.option(
    "--anonymous", is_flag=True, help="Numbers for names: to show in class. They stay the same."
)
@katas_option
def report(ledger: Path | None, place: Path | None, against: Path | None, anonymous: bool) -> None:
    """How the class did: an HTML page, a CSV, and the essentials here.

    LEDGER is what `kata grade CLASS` keeps; by default the only NAME-grades.db of this folder.
    Which misconceptions the class has, who is stuck where, what could not be graded, odd things
    that code did, code of the same form; and first of all grades that changed since the grading
    before (or that of --against) though the code did not. The page loads nothing and sends nothing.
    """
    from attention_katas.grading.ledger import Ledger
    from attention_katas.grading.report import page as pages
    from attention_katas.grading.report import screen as report_screen
    from attention_katas.grading.report import table as tables
    from attention_katas.grading.report.findings import report_on

    file = ledger or _only_ledger()
    page = _page_path(place, file, anonymous)
    with contextlib.ExitStack() as stack:
        now = stack.enter_context(Ledger(file, new=False, reading=True))
        old = stack.enter_context(Ledger(against, new=False, reading=True)) if against else None
        stack.enter_context(waiting("reading the ledger ..."))
        findings = report_on(now, load(), old, anonymous)
        command = now.remembered_command() if findings.stopped else None
    table = page.with_suffix(".csv")
    _write(table, tables.render(findings), "utf-8-sig")  # by its mark Excel knows it
    _write(page, pages.render(findings, table.name))
    out = screen()
    report_screen.show(out, findings)
    for path in (page, table):
        out.item(out.signs.passed, "green", str(path))
    if command is not None:
        out.line()
        out.next_step(_continuing(*command))


def _only_ledger() -> Path:
    """The ledger of this folder. Raises KataError unless there is just one."""
    ledgers = sorted(Path().glob("*-grades.db"))
    if not ledgers:
        raise KataError(
            "there is no NAME-grades.db here", "kata grade CLASS, or kata grade report LEDGER"
        )
    if len(ledgers) > 1:
        names = ", ".join(map(str, ledgers))
        raise KataError(
            f"there are several ledgers here: {names}",
            f"kata grade report {shlex.quote(str(ledgers[0]))}",
        )
    return ledgers[0]


def _continuing(folder: str, command: str) -> str:
    """The command that continues a grading that was stopped, from this folder."""
    return command if folder == os.getcwd() else f"cd {shlex.quote(folder)} && {command}"


def _page_path(out: Path | None, ledger: Path, anonymous: bool) -> Path:
    """Where the page goes. Raises KataError for a file that is no page."""
    if out is not None and not out.is_dir() and out.suffix:
        if out.suffix.lower() not in (".html", ".htm"):
            raise KataError(f"--out {out} is neither a folder nor a page", "--out report.html")
        return out
    name = f"{ledger.stem.removesuffix('-grades')}-report{'-anonymous' if anonymous else ''}.html"
    return (out or Path()) / name


def _write(path: Path, content: str, encoding: str = "utf-8") -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding=encoding, errors="backslashreplace", newline="\n")
    except OSError as error:
        raise KataError(f"{path} cannot be written: {error.strerror}") from None
