"""`kata doctor`: can this installation judge, and which sandbox restrictions hold?"""

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
    """The result of one check of the installation.

    name: what was checked.
    good: whether it is as it should be.
    detail: what was seen, in words.
    required: whether judging is impossible without it.
    """

    name: str
    good: bool
    detail: str
    required: bool = True


# What each restriction means for the learner's code.
RESTRICTIONS = {
    "closed descriptors": "your code cannot use files that the judge has open",
    "own session": "it ends with the judge",
    "empty environment": "it sees none of your environment variables",
    "memory, time and size limits": "it cannot use up the machine",
    "no new privileges": "no program gives it privileges, and root has none",
    "read-only files": "it cannot write files, or read the tests",
    "system calls": "no new processes, no network, no access to other processes",
}


def examine(catalog: Catalog) -> list[Finding]:
    """Judge a reference solution, try the sandbox, and report what each step found."""
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
    reason = words.verdict(verdict)
    detail = f"the {kata.name} reference: {verdict.outcome}{f': {reason}' if reason else ''}"
    findings.append(Finding("torch", True, f"{verdict.versions['torch']}, on {verdict.device}"))
    findings.append(Finding("judge", verdict.outcome == v.PASSED, detail))
    if verdict.outcome == v.COULD_NOT_GRADE and not verdict.restrictions:
        unknown = Finding("sandbox", False, "not looked at, because the judge did not run", False)
        return [*findings, unknown]
    for name, meaning in RESTRICTIONS.items():
        holds = name in verdict.restrictions
        state = "holds" if holds else "not on this system"
        findings.append(Finding(name, holds, f"{state} ({meaning})", False))
    return [*findings, *_attempts(catalog, kata, verdict.device)]


def _packs(catalog: Catalog) -> str:
    """How many katas are ready, and in which folders."""
    folders = ", ".join(str(pack.folder) for pack in catalog.packs)
    return f"{len(catalog.ready)} ready in {folders}" if folders else "there are no packs"


def _attempts(catalog: Catalog, kata: Kata, device: str) -> list[Finding]:
    """Try every forbidden act and every route to a banned built-in in a sandbox worker."""
    from attention_katas.judge import ban_check
    from attention_katas.sandbox import selftest
    from attention_katas.sandbox.restrictions import landlock

    findings = []
    with start_workers(hidden_paths(catalog), device=device) as workers:
        attempts = selftest.permitted(workers, kata.tests)
        possible = [act for act, is_possible in attempts.items() if is_possible]
        detail = f"{len(attempts)} forbidden acts tried, all refused"
        if possible:
            acts = ", ".join(possible)
            detail = f"{len(possible)} of {len(attempts)} forbidden acts are possible: {acts}"
        abi = landlock.version()
        detail += f" (Landlock {abi})" if abi else " (no Landlock)"
        findings.append(Finding("restrictions", not possible, detail, False))
        bans = tuple(dict.fromkeys(family for item in catalog.ready for family in item.banned))
        try:
            count = ban_check.check(workers, bans, ban_check.SHORT, ban_check.FULL, ban_check.SLOW)
            names = " and ".join(family.name for family in bans)
            detail = f"{count} routes to {names} tried, none is open"
            findings.append(Finding("bans", True, detail))
        except CouldNotGrade as error:
            findings.append(Finding("bans", False, error.message))
    return findings
