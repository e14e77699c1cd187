"""`kata run`: judge katas of the workspace, or a file."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from attention_katas.cli.options import FormatName, cold_option, device_option, run_formats
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
from attention_katas.render.formats import SCREEN
from attention_katas.verdict import data as v
from attention_katas.verdict import reasons, steps


@dataclass(frozen=True)
class KataFile:
    """A file to judge.

    kata: what it is judged by.
    path: where it is.
    label: its name in messages.
    """

    kata: Kata
    path: Path
    label: str


@click.command()
@click.argument("names", nargs=-1, shell_complete=complete_names)
@click.option("--all", "everything", is_flag=True, help="Judge every kata.")
@device_option
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="Repeat the inputs of an earlier run."
)
@click.option(
    "--format",
    "form",
    type=FormatName(run_formats, SCREEN),
    default=SCREEN,
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
    "--strict",
    is_flag=True,
    help="For code of strangers: refuse unless every sandbox restriction holds.",
)
@click.option(
    "--allow-weak-sandbox",
    "weak",
    is_flag=True,
    help="With --strict: judge with the restrictions that hold.",
)
@cold_option
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

    Exit code: 0 passed, 1 judged and not passed, 2 the command is wrong, 3 could not grade (a
    fault of this program, not of your code).
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
        files = files_of(space, _chosen(katas, space, names, everything))
        if not files and form == SCREEN:
            out = screen()
            out.line("Every kata is done.", "bold")
            out.next_step("kata checkpoint\nkata run --all")
            return
    verdicts = judge(
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
    if strict and form == SCREEN:
        active = next((verdict.restrictions for verdict in verdicts if verdict.restrictions), [])
        screen().line(f"sandbox restrictions: {', '.join(active) or 'none'}", "dim", indent=2)
    ctx.exit(v.exit_code(verdicts))


def files_of(space: Workspace, katas: Iterable[Kata]) -> list[KataFile]:
    """The learner's own files. Raises KataError for a kata that is not in this version."""
    files = []
    for kata in katas:
        if not kata.ready:
            raise KataError(f"{kata.name} is {kata.waits_for}", "kata list")
        files.append(KataFile(kata, space.path(kata), space.shown(kata)))
    return files


def judge(
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

    readings = [read_submission(katas, file.kata, file.path, file.label) for file in files]
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
        _report_restrictions(space, verdicts)
    return verdicts


def _report_restrictions(space: Workspace, verdicts: list[v.Verdict]) -> None:
    """Say once in a workspace which sandbox restrictions this system lacks."""
    from attention_katas.sandbox import restrictions

    judged = next((verdict for verdict in verdicts if verdict.restrictions), None)
    lacking = "\n".join(restrictions.missing(judged.restrictions)) if judged else ""
    note = space.private / "missing-restrictions.txt"
    with contextlib.suppress(OSError):
        if lacking and (not note.exists() or note.read_text(encoding="utf-8") != lacking):
            note.write_text(lacking, encoding="utf-8")
            say(
                f"this system lacks sandbox restrictions: {', '.join(lacking.splitlines())}. "
                "Judge only code that you would run anyway.",
                "kata doctor",
            )


def _print(
    verdicts: list[v.Verdict], form: str, katas: Catalog, space: Workspace | None, file_option: str
) -> None:
    if form != SCREEN:
        click.echo(run_formats().load(form).render(verdicts), nl=False)
        return
    out = screen()
    if len(verdicts) > 1:
        out.summary(verdicts)
        unfinished = [verdict for verdict in verdicts if verdict.outcome != v.PASSED]
        verdicts = [verdict for verdict in unfinished if verdict.outcome != v.NOT_STARTED][:1]
        if not verdicts:
            out.next_step(f"kata run {unfinished[0].kata}" if unfinished else "kata checkpoint")
    for verdict in verdicts:
        kata = katas[verdict.kata]
        match verdict.reason:
            case reasons.ImportMissing(reason=reasons.FileMissing()) if file_option:
                verdict.next_step = steps.PutBeside(file_option)
        out.verdict(verdict, kata, _following(katas, kata, space), file_option)


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
