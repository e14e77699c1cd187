"""From a file to a submission, or at once to a verdict that needs no judge.

A missing file, an untouched stub or bytes that are no source text are judged here, without
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
from attention_katas.verdict import reasons, steps


def read_submission(
    catalog: Catalog, kata: Kata, path: Path, label: str = ""
) -> Submission | v.Verdict:
    """The submission in `path`, or the verdict when there is nothing to judge.

    label: how to name the file to the learner.
    """
    label = label or str(path)
    if path.is_symlink() and not path.exists():
        return blank(kata, v.BROKEN, label, reasons.LinkDangling(label))
    return attempt(kata, lambda: submission(catalog, kata, path), label)


def files_read(kata: Kata, reading: Submission | v.Verdict | None) -> set[str]:
    """Names of the files that the verdict on what `read_submission` returned depends on."""
    if not isinstance(reading, Submission):
        return {kata.file}
    imported = reading.sources.keys() | reading.absent.keys()
    return {kata.file} | {f"{module}.py" for module in imported}


def attempt(kata: Kata, read: Callable[[], Submission], label: str) -> Submission | v.Verdict:
    """The submission that `read` returns, or the verdict when there is nothing to judge."""
    try:
        candidate = read()
    except FileNotFoundError:
        reset = steps.ResetKata(kata.name)
        return blank(kata, v.NOT_STARTED, label, reasons.FileMissing(label), reset)
    except Unreadable as problem:
        verdict = blank(kata, v.BROKEN, label, problem.reason)
        if problem.line:
            verdict.raised = v.Raised("", "", [v.Frame(kata.file, problem.line, "")])
        return verdict
    except OSError as error:
        reason = reasons.CannotBeRead(label, error.strerror or "")
        return blank(kata, v.BROKEN, label, reason)
    candidate = replace(candidate, file=label)
    return not_started(candidate) or candidate


def not_started(submission: Submission) -> v.Verdict | None:
    """The verdict on a submission in which every function is still the stub, else None."""
    if not submission.not_started:
        return None
    kata = submission.kata
    verdict = blank(kata, v.NOT_STARTED, submission.file, reasons.StillStub(kata.file))
    verdict.source_hash = submission.digest
    return verdict


def blank(
    kata: Kata,
    outcome: v.Outcome,
    file: str,
    reason: reasons.Reason | None = None,
    next_step: steps.Step | None = None,
) -> v.Verdict:
    """A verdict without checks."""
    return v.Verdict(
        kata=kata.name,
        outcome=outcome,
        file=file,
        reason=reason,
        next_step=next_step,
        kata_version=kata.version,
        versions=versions(),
    )


def versions() -> dict[str, str]:
    """Versions of everything that decides a verdict: local and graded results must agree."""
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
