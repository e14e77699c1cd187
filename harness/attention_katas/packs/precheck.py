"""From a file to a submission, or at once to a verdict that needs no judge.

A missing file, an untouched stub or bytes that are no source text are told here, without
importing torch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from attention_katas import __version__
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.submission import Submission, Unreadable, submission
from attention_katas.verdict import data as v


def read_submission(
    catalog: Catalog, kata: Kata, path: Path, shown: str = ""
) -> Submission | v.Verdict:
    """The submission in `path`, or the verdict when there is nothing to judge.

    shown: how to name the file to the learner.
    """
    shown = shown or str(path)
    found = taken(kata, lambda: submission(catalog, kata, path), shown)
    if isinstance(found, v.Verdict) and found.outcome == v.NOT_STARTED and _dangles(path):
        return blank(kata, v.BROKEN, shown, f"{shown} is a link to a file that is not there")
    return found


def files_read(kata: Kata, reading: Submission | v.Verdict) -> set[str]:
    """Names of the files that the verdict on what `read_submission` returned depends on."""
    if isinstance(reading, v.Verdict):
        return {kata.file}
    imported = reading.sources.keys() | reading.absent.keys()
    return {kata.file} | {f"{module}.py" for module in imported}


def _dangles(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def taken(kata: Kata, make: Callable[[], Submission], shown: str) -> Submission | v.Verdict:
    """The submission that `make` makes, or the verdict when there is nothing to judge."""
    try:
        found = make()
    except FileNotFoundError:
        return blank(
            kata,
            v.NOT_STARTED,
            shown,
            f"{shown} is not there",
            f"kata reset {kata.name} writes a fresh stub",
        )
    except Unreadable as problem:
        verdict = blank(kata, v.BROKEN, shown, problem.message)
        if problem.line:
            verdict.raised = v.Raised("", "", [v.Frame(kata.file, problem.line, "")])
        return verdict
    except OSError as error:
        return blank(kata, v.BROKEN, shown, f"{shown} cannot be read: {error.strerror}")
    found = replace(found, file=shown)
    return not_started(found) or found


def not_started(found: Submission) -> v.Verdict | None:
    """The verdict on a submission in which every function is still the stub, else None."""
    if not found.not_started:
        return None
    message = f"{found.kata.file} is still the stub"
    verdict = blank(found.kata, v.NOT_STARTED, found.file, message)
    verdict.source_hash = found.digest
    return verdict


def blank(kata: Kata, outcome: str, file: str, message: str, next_step: str = "") -> v.Verdict:
    """A verdict without checks."""
    return v.Verdict(
        kata=kata.name,
        outcome=outcome,
        file=file,
        message=message,
        next_step=next_step,
        kata_version=kata.version,
        versions=versions(),
    )


def versions() -> dict[str, str]:
    """What judged: said with every verdict, since local and graded results must agree."""
    import platform
    from importlib import metadata

    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = "not installed"
    return {
        "attention-katas": __version__,
        "python": platform.python_version(),
        "torch": torch,
        "platform": sys.platform,
    }
