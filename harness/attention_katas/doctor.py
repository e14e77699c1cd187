"""`kata doctor`: can this installation judge, and what holds a submission in?"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from attention_katas import __version__
from attention_katas import verdict as v
from attention_katas.catalog import Catalog
from attention_katas.errors import KataError
from attention_katas.running import Job, run


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `needed`: judging does not work without it."""

    name: str
    good: bool
    detail: str
    needed: bool = True


# What holds the learner's code in, and what for.
LOCKS = {
    "closed descriptors": "your code cannot read what the judge has open",
    "own session": "it ends with the judge",
    "empty environment": "it sees no variable of yours",
    "memory, time and size limits": "it cannot take the machine down",
    "read-only files": "it writes nowhere, and cannot read the tests",
}


def examine(catalog: Catalog) -> list[Finding]:
    """Judge a reference for real, and say what was seen on the way."""
    version = ".".join(map(str, sys.version_info[:3]))
    findings = [
        Finding("attention-katas", True, __version__),
        Finding("python", sys.version_info >= (3, 10), version),
        Finding("katas", bool(catalog.ready), f"{len(catalog.ready)} ready in {catalog.folder}"),
    ]
    if not catalog.ready:
        return findings
    kata = catalog.ready[-1]
    try:
        verdict = run(catalog, [Job(kata, kata.reference, kata.reference.name)], device="auto")[0]
    except (KataError, ImportError) as error:
        return [*findings, Finding("judge", False, str(error))]
    said = f": {verdict.message}" if verdict.message else ""
    detail = f"the {kata.name} reference: {verdict.outcome}{said}"
    findings.append(Finding("torch", True, f"{verdict.versions['torch']}, on {verdict.device}"))
    findings.append(Finding("judge", verdict.outcome == v.PASSED, detail))
    for lock, why in LOCKS.items():
        held = lock in verdict.locks
        words = "holds" if held else "not on this system"
        findings.append(Finding(lock, held, f"{words} ({why})", False))
    return findings
