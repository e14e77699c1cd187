"""Judge a hostile file, and see what it left behind: shared by the tests and bench/hostile.py."""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from attention_katas.packs.catalog import Catalog
from attention_katas.packs.submission import Unreadable, submission
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.restrictions.linux import children_of
from attention_katas.verdict.data import BROKEN, Verdict

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "tests" / "hostile").glob("*/*.py"))
# What waits in bombs and loops is over in a second.
LIMITS = Limits(load_seconds=1.0, call_seconds=1.0)
AHEAD = 3  # sandbox workers that a template has made ahead of need


@dataclass(frozen=True)
class Wanted:
    """What a file's first lines ask for."""

    outcomes: tuple[str, ...]
    says: str
    needs: tuple[str, ...]


def wanted(path: Path) -> Wanted:
    head = path.read_bytes().decode("utf-8", "replace").replace("\r", "\n")[:2000]
    found = dict(re.findall(r"^\W*# (outcome|says|needs): (.*?)\s*$", head, re.MULTILINE))
    needs = tuple(name for name in found.get("needs", "").split(", ") if name)
    return Wanted(tuple(found["outcome"].split(" or ")), found.get("says", ""), needs)


def judged(judge, catalog: Catalog, path: Path, seed: int = 0) -> Verdict:
    """The verdict on a file as a stranger would hand it in: from its bytes."""
    kata = catalog[path.parent.name]
    try:
        return judge.judge(submission(catalog, kata, path, siblings=path.parent), seed)
    except Unreadable as problem:
        return Verdict(kata.name, BROKEN, reason=problem.reason)


@dataclass(frozen=True)
class Traces:
    """What can be seen from outside of what was left behind."""

    processes: frozenset[int]
    files: frozenset[tuple[str, int, int, int]]
    descriptors: int


OTHERS = ("kata-probe-", "kata-lab-", "kata-notebook-", "attention-katas-")


def traces() -> Traces:
    """Descriptors, processes that do not belong, and the files that must stay as they are."""
    files = []
    for place in (ROOT / "katas", ROOT / "reference", ROOT / "harness", Path("/dev/shm")):
        files += [entry for entry in place.rglob("*") if "__pycache__" not in entry.parts]
    for place in (Path("/tmp"), Path.home(), Path.cwd(), Path("/"), Path("/var/tmp")):
        # Other judges on this machine come and go with folders of their own.
        named = (entry for entry in _entries(place) if "kata" in entry.name)
        files += [entry for entry in named if not entry.name.startswith(OTHERS)]
    found = []
    for file in files:
        try:
            status = file.lstat()
        except OSError:
            continue
        found.append((str(file), status.st_mode, status.st_size, status.st_mtime_ns))
    count = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    return Traces(frozenset(strangers()), frozenset(found), count)


def _entries(place: Path) -> list[Path]:
    try:
        return list(place.iterdir())
    except OSError:
        return []


def strangers() -> set[int]:
    """Descendants of this process that are no fork server, template, or worker made ahead."""
    found: set[int] = set()
    for forkserver in children_of(os.getpid()):
        for template in children_of(forkserver):
            workers = children_of(template)
            found |= {below for worker in workers for below in children_of(worker)}
            found |= set(workers[AHEAD:])
    return found


def left_behind(before: Traces) -> dict[str, list[str]]:
    """What is there now and was not before; waits a moment for what is being cleared away."""
    deadline = time.monotonic() + 3
    while True:
        now = traces()
        found = {
            "processes": sorted(map(str, now.processes - before.processes)),
            "files": sorted({name for name, *_ in now.files ^ before.files}),
            "descriptors": [str(now.descriptors)] * (now.descriptors > before.descriptors + 2),
        }
        if not any(found.values()) or time.monotonic() > deadline:
            return found
        time.sleep(0.02)
