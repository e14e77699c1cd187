"""What does it cost to grade a class?  python bench/grading.py [--quick] [--peers FOLDER]

Everything by the public command, `kata grade CLASS --ledger FILE --to csv=FILE --workers N`, on
classes of bench/grading_class.py: of sixty files 28 are right, 18 hold a known mistake, 6 are not
started, 4 do not even load, 3 are hostile and 1 hangs. A submission is what a student hands in: all
six katas. No two files are alike, so nothing is saved by judging equal content once.

class     100 students, a worker on every core: submissions per second and core, start-up included;
          the median submission (its six verdicts one after the other) and the median verdict.
peers     One kata, softmax, right answers only. Ours: 50 students in one command, and one student
          alone, cold. otter-grader: `otter run`, which takes one notebook at a time. nbgrader:
          `nbgrader autograde`, one student, and 20 in one command. `otter_over_ours` and
          `nbgrader_over_ours` are seconds per submission in a class: theirs as they do it fastest
          (otter one by one, nbgrader 20 in one command) over ours with a worker on every core, as
          the command does by itself; `..._one_core` is the same over one pinned worker of ours. It
          is not the same work: their notebook has two checks of a NumPy function and needs no
          torch; ours has all checks of the kata, each in a process of its own, behind locks. So the
          ratios favour the peers. `bench/setup` installs them; one that is not there is null.
scaling   60 students (no file hangs: a last one would leave a core idle): one worker and everything
          else pinned to one core, over two workers on two cores. Whole commands.
resume    1,000 students. In the middle the whole command is killed with SIGKILL, and the same
          command is given again. `resume_ok`: everybody is in the table; the first 100 have the
          points that the undisturbed class gave them; no verdict that was in the ledger at the kill
          was made again; no process was left, neither then nor at the end.
memory    Proportional set size of a worker and all its processes, the largest of samples taken
          while the 1,000 are graded. Needs to read /proc/*/smaps_rollup (root), else null.
growth    Seconds per submission without start-up at 10 students (five classes), 100 and 1,000 (both
          parts of the killed run): `growth` is 1,000 over 10, `growth_100` is 1,000 over 100.

A full run takes about forty minutes on two cores; --short, with classes of 10, 40 and 120, about
ten. --quick is there to see that it works: tiny classes, nothing hangs, peers run beside us. The
last line is JSON.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import csv
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading_class import HANGING, NOT_STARTED, RIGHT, Class
from grading_peers import Nbgrader, Otter

ROOT = Path(__file__).resolve().parents[1]
KATA = [sys.executable, "-m", "attention_katas", "grade"]
MARK = "KATA_BENCH"
WORKER = "attention_katas.grading.worker"


@dataclass(frozen=True)
class Sizes:
    """How much of everything. samples: seconds between two looks at the memory."""

    whole: int  # students of the class that is measured as such, and is the control
    small: int
    smalls: int  # classes of that size
    large: int
    scaling: int
    softmax: int  # students of ours for the peers
    batch: int  # of nbgrader's
    rounds: int  # of single submissions
    samples: float
    hanging: bool = True


FULL = Sizes(100, 10, 5, 1000, 60, 50, 20, 5, 5.0)
SHORT = Sizes(40, 10, 2, 120, 30, 30, 10, 3, 2.0)
QUICK = Sizes(2, 1, 1, 4, 2, 4, 2, 1, 0.3, hanging=False)


class Bench:
    """A folder with classes, and a secret that gives all of them the same inputs."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        from attention_katas.grading import formats
        from attention_katas.packs.catalog import load_catalog
        from attention_katas.service import machine

        self.folder, self.sizes = folder, sizes
        self.catalog = load_catalog()
        self.cores = machine.cores()
        self.table = "csv" if "csv" in formats.REGISTRY.names() else "json"
        self.seed = folder / "seed"
        self.seed.write_text("bench/grading.py", encoding="utf-8")
        self.mark = uuid.uuid4().hex
        self.everybody = Class(self.catalog, sizes.hanging)

    def command(self, path: Path, name: str, workers: int, only: str = "") -> list[str]:
        """`kata grade`, with a ledger and a table named after what it is for."""
        return [
            *KATA,
            str(path),
            *("--seed-file", str(self.seed)),
            *("--ledger", str(self.ledger(name))),
            *("--to", f"{self.table}={self.folder / name}.{self.table}"),
            *("--workers", str(workers)),
            *(("--only", only) if only else ()),
        ]

    def ledger(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def start(self, command: list[str], cores: Iterable[int] = ()) -> subprocess.Popen[bytes]:
        """The command, on these cores if any are named."""
        before = os.sched_getaffinity(0)
        if cores:
            os.sched_setaffinity(0, cores)
        try:
            with open(self.folder / "said", "ab") as said:
                return subprocess.Popen(
                    command, env={**os.environ, MARK: self.mark}, stdout=said, stderr=said
                )
        finally:
            os.sched_setaffinity(0, before)

    def seconds(self, command: list[str], cores: Iterable[int] = ()) -> float:
        """How long the command takes. That something could not be graded is seen elsewhere."""
        started = time.perf_counter()
        status = self.start(command, cores).wait()
        took = time.perf_counter() - started
        assert status in (0, 3), (self.folder / "said").read_text(encoding="utf-8")[-3000:]
        return took

    def points(self, name: str) -> dict[str, tuple[str, ...]]:
        """Student -> points of every kata and in all, as the table has them."""
        path = self.folder / f"{name}.{self.table}"
        if self.table == "json":
            results = json.loads(path.read_text(encoding="utf-8"))["results"]
            return {
                one["student"]: (*(str(k["points"]) for k in one["katas"]), str(one["points"]))
                for one in results
            }
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
        wanted = [*(kata.name for kata in self.everybody.katas), "points"]
        return {row["student"]: tuple(row[column] for column in wanted) for row in rows}

    # Processes

    def ours(self) -> set[int]:
        """All processes that carry our mark and live, whosever children they are by now."""
        wanted = f"{MARK}={self.mark}".encode()
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        return found

    def left(self, known: set[int], seconds: float = 10.0) -> int:
        """How many of the known and of all marked processes still live after a while."""
        until = time.monotonic() + seconds
        while True:
            living = {pid for pid in known | self.ours() if alive(pid)}
            if not living or time.monotonic() > until:
                return len(living)
            time.sleep(0.1)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    """Whatever thread of it started them."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def family(pid: int) -> set[int]:
    """A process and all that came of it and still hang on it."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        found.add(one := waiting.pop())
        waiting += children_of(one)
    return found


def megabytes(pid: int) -> float | None:
    """Proportional set size of a process and its family; None if that is not ours to read."""
    sizes = []
    for one in family(pid):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            try:
                lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            except PermissionError:
                return None
            sizes += [int(line.split()[1]) / 1000 for line in lines if line.startswith("Pss:")]
    return sum(sizes)


class Sampler(threading.Thread):
    """Looks at a command's workers again and again. peak: of the largest, in MB."""

    def __init__(self, pid: int, every: float) -> None:
        super().__init__(daemon=True)
        self.pid, self.every = pid, every
        self.peak: float | None = None
        self.seen: set[int] = set()
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(self.every):
            for child in children_of(self.pid):
                self.seen |= family(child)
                with contextlib.suppress(OSError):
                    if WORKER not in Path(f"/proc/{child}/cmdline").read_text():
                        continue
                    size = megabytes(child)
                    if size is not None:
                        self.peak = max(self.peak or 0.0, size)

    def stop(self) -> None:
        self.over.set()
        self.join()


def rows(ledger: Path, query: str) -> list[Any]:
    """Of a ledger that somebody may be writing to."""
    with contextlib.closing(sqlite3.connect(ledger, timeout=30)) as opened:
        return opened.execute(query).fetchall()


# What is measured


def start_up(bench: Bench, name: str, workers: int, cores: Iterable[int] = ()) -> float:
    """Seconds of a command beside the judging: one small verdict for each worker."""
    kata = bench.catalog["dot-product"]
    bench.everybody.write_right(bench.folder / name, kata, workers)
    took = bench.seconds(bench.command(bench.folder / name, name, workers, kata.name), cores)
    judged = [row[0] for row in rows(bench.ledger(name), "select seconds from verdicts")]
    return took - max(judged)


def graded(
    bench: Bench, name: str, students: Iterable[int], workers: int, **where: Any
) -> tuple[float, dict[str, int]]:
    """A class, graded: (seconds, what was in it)."""
    count = bench.everybody.write(bench.folder / name, students)
    return bench.seconds(bench.command(bench.folder / name, name, workers), **where), count


def whole(bench: Bench) -> dict[str, Any]:
    """The mixed class, and whether everything got the outcome that was meant."""
    students, cores = bench.sizes.whole, len(bench.cores)
    took, count = graded(bench, "whole", range(students), cores)
    found = rows(
        bench.ledger("whole"),
        "select student, e.kata, outcome, seconds from entries e join verdicts using (key)",
    )
    each: collections.Counter[str] = collections.Counter()
    by_outcome: dict[str, list[float]] = {}
    surprises = []
    for student, kata, outcome, seconds in found:
        each[student] += seconds
        by_outcome.setdefault(outcome, []).append(seconds)
        kind, _ = bench.everybody.files(int(student[1:]))[bench.catalog[kata].file]
        if not meant(kind, outcome):
            surprises.append(f"{student} {kata}: {kind}, and {outcome}")
    print(f"class of {students}, {cores} workers: {took:.1f} s; {count}")
    for outcome, times in sorted(by_outcome.items()):
        middle, most = statistics.median(times), max(times)
        print(f"  {outcome:16}{len(times):5}  median {middle:6.2f} s  most {most:6.2f} s")
    print(f"  {len(surprises)} not as meant", *surprises[:5], sep="\n    ")
    verdicts = [seconds for *_, seconds in found]
    return {
        "seconds": took,
        "per_second_per_core": round(students / took / cores, 3),
        "submission_median_s": round(statistics.median(each.values()), 2),
        "verdict_median_s": round(statistics.median(verdicts), 3),
        "verdicts_per_second_per_core": round(len(verdicts) / took / cores, 2),
        "not_as_meant": len(surprises),
    }


def meant(kind: str, outcome: str) -> bool:
    if kind in (RIGHT, NOT_STARTED):
        return outcome == {RIGHT: "passed", NOT_STARTED: "not started"}[kind]
    if kind == HANGING:
        return outcome == "timed out"
    return outcome not in ("passed", "could not grade")


def softmax(bench: Bench) -> dict[str, float]:
    """Ours, for the peers: seconds per submission in a class, on one core, and alone and cold."""
    kata, students = bench.catalog["softmax"], bench.sizes.softmax
    path = bench.folder / "softmax"
    bench.everybody.write_right(path, kata, students)
    workers = len(bench.cores)
    together = bench.seconds(bench.command(path, "softmax", workers, kata.name))
    core = bench.cores[:1]
    pinned = bench.seconds(bench.command(path, "softmax-1", 1, kata.name), core)
    file = path / "s0000" / kata.file
    alone = [bench.seconds([*KATA, str(file)]) for _ in range(bench.sizes.rounds)]
    return {
        "ours": together / students,
        "ours_one_core": pinned / students,
        "ours_cold": statistics.median(alone),
    }


def peers(bench: Bench, environments: Path) -> dict[str, float]:
    """Seconds per submission of the peers that are installed."""
    found = {}
    if Otter.is_installed(environments / "otter"):
        otter = Otter(environments / "otter", bench.folder / "otter", 1)
        found["otter"] = statistics.median(otter.one() for _ in range(bench.sizes.rounds))
    if Nbgrader.is_installed(environments / "nbgrader"):
        students = bench.sizes.batch
        nbgrader = Nbgrader(environments / "nbgrader", bench.folder / "nbgrader", students)
        if bench.sizes.rounds > 1:
            ones = [nbgrader.one() for _ in range(bench.sizes.rounds)]
            found["nbgrader_cold"] = statistics.median(ones)
        found["nbgrader"] = nbgrader.everybody() / students
    return found


def scaling(bench: Bench) -> dict[str, float | None]:
    """One worker on one core, with all that belongs to it, over two on two."""
    if len(bench.cores) < 2:
        return {"scaling_2": None, "scaling_2_without_start": None}
    calm = Class(bench.catalog, hanging=False)
    calm.write(bench.folder / "scaling", range(bench.sizes.scaling))
    times, starts = [], []
    for workers in (1, 2):
        cores = bench.cores[:workers]
        command = bench.command(bench.folder / "scaling", f"scaling-{workers}", workers)
        times.append(bench.seconds(command, cores))
        starts.append(start_up(bench, f"start-of-{workers}", workers, cores))
    print("scaling, 1 and 2 workers:", *(f"{took:.1f} s" for took in times), end=", start-up ")
    print(*(f"{took:.1f} s" for took in starts))
    bare = [took - start for took, start in zip(times, starts, strict=True)]
    return {
        "scaling_2": round(times[0] / times[1], 2),
        "scaling_2_without_start": round(bare[0] / bare[1], 2),
    }


def resume(bench: Bench) -> dict[str, Any]:
    """The large class, killed in the middle, and again."""
    students, workers = bench.sizes.large, len(bench.cores)
    count = bench.everybody.write(bench.folder / "large", range(students))
    command, ledger = bench.command(bench.folder / "large", "large", workers), bench.ledger("large")
    print(f"class of {students}: {count}", flush=True)
    started = time.perf_counter()
    process = bench.start(command)
    sampler = Sampler(process.pid, bench.sizes.samples)
    half = count["distinct"] // 2
    while process.poll() is None and judged_in(ledger) < half:
        time.sleep(0.2)
    known = sampler.seen | family(process.pid)
    process.send_signal(signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    first = time.perf_counter() - started
    sampler.stop()
    left = bench.left(known | sampler.seen)
    before = made(ledger)
    second = bench.seconds(command)
    left_at_end = bench.left(set())
    after = made(ledger)
    again = sum(after.get(key) != when for key, when in before.items())
    points, control = bench.points("large"), bench.points("whole")
    differing = [who for who, theirs in control.items() if points.get(who) != theirs]
    missing = {f"s{number:04}" for number in range(students)} - points.keys()
    print(f"  killed after {first:.1f} s with {len(before)} of {len(after)} verdicts made;")
    print(f"  once more, to the end: {second:.1f} s. Judged again {again}, missing {len(missing)},")
    print(f"  other points {len(differing)} of {len(control)}, processes left {left}", end=" ")
    print(f"and {left_at_end} at the end")
    fine = killed and 0 < len(before) < len(after)
    return {
        "seconds": first + second,
        "resume_ok": fine and not (again or missing or differing or left or left_at_end),
        "worker_mb": None if sampler.peak is None else round(sampler.peak),
    }


def judged_in(ledger: Path) -> int:
    try:
        return int(rows(ledger, "select count(*) from verdicts where seconds > 0")[0][0])
    except (sqlite3.Error, IndexError):
        return 0  # it is not there yet


def made(ledger: Path) -> dict[str, tuple[str, float]]:
    """When each verdict was made that took a judge, and how long that was. A new one differs."""
    found = rows(ledger, "select key, at, seconds, outcome from verdicts where seconds > 0")
    return {key: (at, seconds) for key, at, seconds, how in found if how != "could not grade"}


def growth(bench: Bench, at_whole: float, at_large: float) -> dict[str, Any]:
    """Seconds per submission without start-up, by the size of the class."""
    sizes, workers = bench.sizes, len(bench.cores)
    starts = [start_up(bench, f"start-{n}", workers) for n in range(min(sizes.rounds, 3))]
    start = statistics.median(starts)
    times = [
        graded(bench, f"small-{n}", range(n * sizes.small, (n + 1) * sizes.small), workers)[0]
        for n in range(sizes.smalls)
    ]
    each = {
        sizes.small: (statistics.mean(times) - start) / sizes.small,
        sizes.whole: (at_whole - start) / sizes.whole,
        sizes.large: (at_large - 2 * start) / sizes.large,
    }
    print(
        f"start-up {start:.1f} s; seconds per submission",
        *(f"{n}: {s:.3f}" for n, s in each.items()),
    )
    small, middle, large = each.values()
    return {
        "growth": round(large / small, 2),
        "growth_100": round(large / middle, 2),
        "start_up_s": round(start, 2),
        "submission_s": {str(size): round(value, 3) for size, value in each.items()},
    }


def ratio(of: float | None, over: float) -> float | None:
    return None if of is None else round(of / over, 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--short", action="store_true", help="smaller classes: some ten minutes instead of forty"
    )
    parser.add_argument("--quick", action="store_true", help="to see that it works: about a minute")
    parser.add_argument(
        "--peers", type=Path, default=ROOT / ".bench", help="where bench/setup put them"
    )
    given = parser.parse_args()
    sizes = QUICK if given.quick else SHORT if given.short else FULL
    if given.quick:
        print(f"quick: {sizes}\nnothing hangs, and peers run beside us: no figure to quote")
    with tempfile.TemporaryDirectory(prefix="kata-bench-") as folder:
        bench = Bench(Path(folder).resolve(), sizes)
        with ThreadPoolExecutor(1) as beside:
            theirs_later = beside.submit(peers, bench, given.peers)
            if not given.quick:
                theirs_later.result()
            ours = softmax(bench)
            measured = whole(bench)
            scaled = scaling(bench)
            resumed = resume(bench)
            grown = growth(bench, measured.pop("seconds"), resumed.pop("seconds"))
            theirs = theirs_later.result()
    for name, value in {**ours, **theirs}.items():
        print(f"softmax, seconds per submission, {name:14}{value:8.3f}")
    found = {
        "per_second_per_core": measured["per_second_per_core"],
        "otter_over_ours": ratio(theirs.get("otter"), ours["ours"]),
        "nbgrader_over_ours": ratio(theirs.get("nbgrader"), ours["ours"]),
        **scaled,
        **resumed,
        **grown,
        **measured,
        "otter_over_ours_one_core": ratio(theirs.get("otter"), ours["ours_one_core"]),
        "nbgrader_over_ours_one_core": ratio(theirs.get("nbgrader"), ours["ours_one_core"]),
        "otter_over_ours_cold": ratio(theirs.get("otter"), ours["ours_cold"]),
        "nbgrader_over_ours_cold": ratio(theirs.get("nbgrader_cold"), ours["ours_cold"]),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
