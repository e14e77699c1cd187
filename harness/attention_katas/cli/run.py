"""Commands that judge: run and checkpoint."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from attention_katas.cli.shared import (
    complete_names,
    katas_option,
    load,
    progress_of,
    say,
    screen,
    states_of,
    tell_notice,
    unless_unavailable,
    waiting,
)
from attention_katas.errors import KataError, NoSuchKata, ProgressUnavailable
from attention_katas.packs import workspace
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import read_submission
from attention_katas.packs.submission import Submission
from attention_katas.packs.workspace import Workspace
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps

DEVICE = click.option(
    "--device",
    type=click.Choice(("auto", "cpu", "cuda", "mps")),
    default="auto",
    show_default=True,
    help="Where your code runs.",
)

COLD = click.option(
    "--cold", is_flag=True, help="Without the daemon, the process that is left behind to be fast."
)


@dataclass(frozen=True)
class KataFile:
    """A file to judge.

    kata: what it is judged by.
    path: where it is.
    shown: its name in messages.
    """

    kata: Kata
    path: Path
    shown: str


@click.command()
@click.argument("names", nargs=-1, shell_complete=complete_names)
@click.option("--all", "everything", is_flag=True, help="Judge every kata.")
@DEVICE
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Repeat the inputs of an earlier run."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "junit")),
    default="text",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path),
    help="Judge this file instead of your workspace's; nothing is recorded.",
)
@click.option(
    "--strict", is_flag=True, help="For code of strangers: refuse unless every lock holds."
)
@click.option(
    "--allow-weak-sandbox", "weak", is_flag=True, help="With --strict: go on with what there is."
)
@COLD
@click.option("--spawn", is_flag=True, hidden=True, help="As on systems that cannot fork.")
@katas_option
@click.pass_context
def run(
    ctx: click.Context,
    names: tuple[str, ...],
    everything: bool,
    device: str,
    seed: int | None,
    form: str,
    file: Path | None,
    strict: bool,
    weak: bool,
    cold: bool,
    spawn: bool,
) -> None:
    """Judge your code: the next kata, or those named.

    Exit code: 0 passed, 1 judged and not passed, 2 asked for something impossible, 3 could not
    grade (a fault of ours, not of your code).
    """
    katas = load()
    space = None
    if file is not None:
        if not names and not everything:
            with contextlib.suppress(NoSuchKata):
                names = (katas[file.stem].name,)
        if len(names) != 1 or everything:
            raise click.UsageError("--file judges one kata: give its name.")
        if not file.exists() and not file.is_symlink():
            raise KataError(f"there is no file {file}", f"kata run {names[0]} --file PATH")
        files = [KataFile(katas[names[0]], file, str(file))]
    else:
        if names and everything:
            raise click.UsageError("give names or --all, not both.")
        space = workspace.find()
        files = _files_of(space, _chosen(katas, space, names, everything))
        if not files and form == "text":
            out = screen()
            out.line("Every kata is done.", "bold")
            out.next_step("kata checkpoint\nkata run --all")
            return
    verdicts = _judge(
        katas,
        files,
        space,
        device=device,
        seed=seed,
        spawn=spawn,
        strict=strict,
        weak=weak,
        cold=cold,
    )
    _print(verdicts, form, katas, space, str(file or ""))
    if strict and form == "text":
        restrictions = next((each.restrictions for each in verdicts if each.restrictions), [])
        screen().line(f"locks: {', '.join(restrictions) or 'none'}", "dim", indent=2)
    ctx.exit(v.exit_code(verdicts))


def _files_of(space: Workspace, katas: Iterable[Kata]) -> list[KataFile]:
    """The learner's own files. Raises KataError for a kata that is not in this version."""
    files = []
    for kata in katas:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
        files.append(KataFile(kata, space.path(kata), space.shown(kata)))
    return files


def _judge(
    katas: Catalog,
    files: list[KataFile],
    space: Workspace | None,
    *,
    device: str,
    seed: int | None = None,
    spawn: bool = False,
    strict: bool = False,
    weak: bool = False,
    cold: bool = False,
) -> list[v.Verdict]:
    """Judge and record, with a sign of life."""
    from attention_katas.service import open_service, verdict_of

    readings = [read_submission(katas, file.kata, file.path, file.shown) for file in files]
    progress = progress_of(space, katas) if space else None
    service = open_service(
        katas,
        [reading.kata for reading in readings if isinstance(reading, Submission)],
        device,
        cold=cold,
        spawn=spawn,
        strict=strict,
        weak=weak,
        patient=False,
        meanwhile=lambda: importlib.import_module("attention_katas.render.terminal"),
    )
    verdicts = []
    with waiting("judging ...") as status, contextlib.closing(service):
        for file, reading in zip(files, readings, strict=True):
            status(f"judging {file.kata.name} ...")
            verdict = verdict_of(service, reading, seed)
            verdicts.append(verdict)
            if progress is not None and verdict.outcome != v.NOT_STARTED:
                with unless_unavailable():
                    source = reading.source if isinstance(reading, Submission) else ""
                    progress.record(verdict, source)
        status("done")
    if progress is not None:
        tell_notice(progress)
    if space is not None:
        _tell_of_locks(space, verdicts)
    return verdicts


def _tell_of_locks(space: Workspace, verdicts: list[v.Verdict]) -> None:
    """Say once in a workspace which locks this system lacks; for one's own code that is enough."""
    from attention_katas.sandbox import restrictions

    judged = next((verdict for verdict in verdicts if verdict.restrictions), None)
    lacking = "\n".join(restrictions.missing(judged.restrictions)) if judged else ""
    note = space.private / "missing-locks.txt"
    with contextlib.suppress(OSError):
        if lacking and (not note.exists() or note.read_text(encoding="utf-8") != lacking):
            note.write_text(lacking, encoding="utf-8")
            say(
                f"not locked in as on Linux; this system lacks: {', '.join(lacking.splitlines())}. "
                "Judge only code that you would run anyway.",
                "kata doctor",
            )


def _print(
    verdicts: list[v.Verdict], form: str, katas: Catalog, space: Workspace | None, elsewhere: str
) -> None:
    if form == "json":
        from attention_katas.render import json

        click.echo(json.render(verdicts))
        return
    if form == "junit":
        from attention_katas.render import junit

        click.echo(junit.render(verdicts), nl=False)
        return
    out = screen()
    if len(verdicts) > 1:
        out.summary(verdicts)
        waiting_for = [verdict for verdict in verdicts if verdict.outcome != v.PASSED]
        verdicts = [verdict for verdict in waiting_for if verdict.outcome != v.NOT_STARTED][:1]
        if not verdicts:
            out.next_step(f"kata run {waiting_for[0].kata}" if waiting_for else "kata checkpoint")
    for verdict in verdicts:
        kata = katas[verdict.kata]
        match verdict.reason:
            case reasons.ImportMissing(reason=reasons.FileMissing()) if elsewhere:
                verdict.next_step = steps.PutBeside(elsewhere)
        out.verdict(verdict, kata, _following(katas, kata, space), elsewhere)


def _chosen(
    katas: Catalog, space: Workspace, names: tuple[str, ...], everything: bool
) -> list[Kata]:
    if everything:
        return katas.ready
    if names:
        return list(dict.fromkeys(katas[name] for name in names))
    from attention_katas.packs.progress import next_kata

    following = next_kata(katas.ready, states_of(katas, space))
    return [following] if following else []


def _following(katas: Catalog, kata: Kata, space: Workspace | None) -> str:
    """The command after a pass: the next kata that is not done."""
    if space is None:
        return ""
    from attention_katas.packs.progress import next_kata

    with contextlib.suppress(ProgressUnavailable):
        states = states_of(katas, space)
        following = next_kata(katas.ready, states)
        if following is None:
            return "kata checkpoint"
        return f"kata {'run' if states[following.name].attempts else 'show'} {following.name}"
    later = katas.ready[katas.ready.index(kata) + 1 :]
    return f"kata show {later[0].name}" if later else "kata progress"


@click.command()
@DEVICE
@COLD
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
    files = _files_of(space, katas.ready)
    verdicts = _judge(katas, files, space, device=device, cold=cold)
    out.summary(verdicts)
    if v.exit_code(verdicts) == 3:
        raise KataError("no certificate is written: not everything could be graded", "kata doctor")
    for path in certificate.write(space.root, verdicts, date.today()):
        out.line(f"{out.signs.passed} {os.path.relpath(path)}", indent=2)
    out.line()
    missing = next((verdict for verdict in verdicts if verdict.outcome != v.PASSED), None)
    out.next_step(f"kata run {missing.kata}" if missing else "be proud of it")
    ctx.exit(v.exit_code(verdicts))
