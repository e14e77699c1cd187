"""`kata checkpoint`: what was passed today, on fresh seeds, as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from attention_katas.errors import KataError
from attention_katas.render import json
from attention_katas.verdict import data as v


def write(folder: Path, verdicts: Sequence[v.Verdict], on: date) -> list[Path]:
    """Write both files into `folder`, beside earlier ones; returns their paths.

    Raises KataError when the folder cannot be written.
    """
    stem = f"certificate-{on.isoformat()}"
    names = (f"{stem}{suffix}" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))
    name = next(n for n in names if not (folder / f"{n}.md").exists())
    texts = {f"{name}.md": markdown(verdicts, on), f"{name}.json": json.render(verdicts, on) + "\n"}
    try:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise KataError(f"{folder} cannot be written: {error.strerror}") from None
    return [folder / file for file in texts]


def markdown(verdicts: Sequence[v.Verdict], on: date) -> str:
    """A page to keep or to hand in. What it says can be checked again with the seeds in it."""
    passes = sum(verdict.outcome == v.PASSED for verdict in verdicts)
    versions = ", ".join(f"{name} {value}" for name, value in verdicts[0].versions.items())
    lines = [
        "# Attention Katas: checkpoint",
        "",
        f"{on.isoformat()}: {passes} of {len(verdicts)} katas passed, judged again on fresh seeds.",
        "",
        "| kata | outcome | checks | device | seed | source |",
        "|---|---|---|---|---|---|",
    ]
    for verdict in verdicts:
        checks = f"{verdict.passed} of {verdict.total}" if verdict.total else ""
        source = verdict.source_hash[:12]
        lines.append(
            f"| {verdict.kata} | {verdict.outcome} | {checks} | {verdict.device} "
            f"| {verdict.seed} | {source} |"
        )
    restrictions = next((verdict.restrictions for verdict in verdicts if verdict.restrictions), [])
    lines += [
        "",
        f"Judged by {versions}.",
        "",
        f"Restrictions: {', '.join(restrictions) or 'none'}.",
        "",
    ]
    return "\n".join(lines)
