"""`kata doctor`: can this installation judge, and what holds a submission in?"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass

from attention_katas import __version__
from attention_katas.errors import CouldNotGrade, KataError
from attention_katas.packs.catalog import Catalog, Kata
from attention_katas.packs.precheck import read_submission
from attention_katas.sandbox.start import start_workers
from attention_katas.service import open_service, verdict_of
from attention_katas.service.local import hidden_paths
from attention_katas.verdict import data as v
from attention_katas.verdict import words


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
    "no new privileges": "no program makes it more powerful, and root has no powers",
    "read-only files": "it writes nowhere, and cannot read the tests",
    "system calls": "no processes, no network, no hand on other processes",
}


def examine(catalog: Catalog) -> list[Finding]:
    """Judge a reference for real, and say what was seen on the way."""
    version = ".".join(map(str, sys.version_info[:3]))
    findings = [
        Finding("attention-katas", True, __version__),
        Finding("python", sys.version_info >= (3, 10), version),
        Finding("katas", bool(catalog.ready), _packs(catalog)),
        *(Finding("pack", False, refusal.message, False) for refusal in catalog.refusals),
    ]
    if not catalog.ready:
        return findings
    kata = catalog.ready[-1]
    try:
        reading = read_submission(catalog, kata, kata.reference, kata.reference.name)
        with contextlib.closing(open_service(catalog, [kata], cold=True)) as service:
            verdict = verdict_of(service, reading)
    except (KataError, ImportError) as error:
        return [*findings, Finding("judge", False, str(error))]
    why = words.verdict(verdict)
    detail = f"the {kata.name} reference: {verdict.outcome}{f': {why}' if why else ''}"
    findings.append(Finding("torch", True, f"{verdict.versions['torch']}, on {verdict.device}"))
    findings.append(Finding("judge", verdict.outcome == v.PASSED, detail))
    for lock, why in LOCKS.items():
        held = lock in verdict.restrictions
        state = "holds" if held else "not on this system"
        findings.append(Finding(lock, held, f"{state} ({why})", False))
    return [*findings, *_tried(catalog, kata, verdict.device)]


def _packs(catalog: Catalog) -> str:
    """How many katas are ready, and in which folders."""
    folders = ", ".join(str(pack.folder) for pack in catalog.packs)
    return f"{len(catalog.ready)} ready in {folders}" if folders else "there are no packs"


def _tried(catalog: Catalog, kata: Kata, device: str) -> list[Finding]:
    """Forbidden acts and routes to banned built-ins, each tried for real in a learner process."""
    from attention_katas.judge import ban_check
    from attention_katas.sandbox import selftest
    from attention_katas.sandbox.restrictions import landlock

    findings = []
    with start_workers(hidden_paths(catalog), device=device) as workers:
        doors = selftest.permitted(workers, kata.tests)
        open_ones = [act for act, done in doors.items() if done]
        shut = f"{len(doors)} forbidden acts tried, all refused"
        if open_ones:
            shut = f"{len(open_ones)} of {len(doors)} forbidden acts are possible: "
            shut += ", ".join(open_ones)
        abi = landlock.version()
        shut += f" (Landlock {abi})" if abi else " (no Landlock)"
        findings.append(Finding("locks", not open_ones, shut, False))
        bans = tuple(dict.fromkeys(family for each in catalog.ready for family in each.banned))
        try:
            count = ban_check.check(workers, bans, ban_check.SHORT, ban_check.FULL, ban_check.SLOW)
            names = " and ".join(family.name for family in bans)
            shut = f"{count} routes to {names} tried, none is open"
            findings.append(Finding("bans", True, shut))
        except CouldNotGrade as error:
            findings.append(Finding("bans", False, error.message))
    return findings
