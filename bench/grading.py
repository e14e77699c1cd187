"""What does it cost to grade a class?
python bench/grading.py [--short | --quick | --smoke] [--peers FOLDER]

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
          torch; ours has all checks of the kata, each in a sandbox worker of its own. So the
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
ten. --quick is there to see that it works: tiny classes, nothing hangs, peers run beside us.
--smoke measures class, resume and memory on two students. The last line is JSON, with the keys of
KEYS; what was not measured is null.
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
from measurement import ROOT, ensure, median, report, sample
from processes import alive, children_of, marked, pss_mb, tree_of

KATA = [sys.executable, "-m", "attention_katas", "grade"]
MARK = "KATA_BENCH"
WORKER = "attention_katas.service.judging"
KEYS = (
    "per_second_per_core",
    "otter_over_ours",
    "nbgrader_over_ours",
    "scaling_2",
    "scaling_2_without_start",
    "resume_ok",
    "worker_mb",
    "growth",
    "growth_100",
    "start_up_s",
    "submission_s",
    "submission_median_s",
    "verdict_median_s",
    "verdicts_per_second_per_core",
    "not_as_meant",
    "otter_over_ours_one_core",
    "nbgrader_over_ours_one_core",
    "otter_over_ours_cold",
    "nbgrader_over_ours_cold",
)


@dataclass(frozen=True)
class Sizes:
    """How much of everything.

    whole: students of the class that is measured as such, and is the control of the large one.
    small: students of a small class.
    smalls: how many small classes.
    large: students of the class that is killed and resumed.
    scaling: students of the class that one and two workers grade.
    softmax: students of ours for the comparison with peers.
    batch: students of nbgrader's class.
    rounds: of single submissions.
    samples: seconds between two looks at the memory.
    hanging: whether some files hang.
    exact: whether times without start-up are measured at two widths, and have to come out above 0;
        tiny classes drown in noise.
    only_class: measure class, resume and memory, and nothing else.
    """

    whole: int
    small: int
    smalls: int
    large: int
    scaling: int
    softmax: int
    batch: int
    rounds: int
    samples: float
    hanging: bool = True
    exact: bool = True
    only_class: bool = False


FULL = Sizes(100, 10, 5, 1000, 60, 50, 20, 5, 5.0)
SHORT = Sizes(40, 10, 2, 120, 30, 30, 10, 3, 2.0)
QUICK = Sizes(2, 1, 1, 3, 1, 2, 2, 1, 0.3, hanging=False, exact=False)
SMOKE = Sizes(1, 0, 0, 2, 0, 0, 0, 0, 0.1, hanging=False, exact=False, only_class=True)


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
            with open(self.folder / "output", "ab") as output:
                return subprocess.Popen(
                    command, env={**os.environ, MARK: self.mark}, stdout=output, stderr=output
                )
        finally:
            os.sched_setaffinity(0, before)

    def seconds(self, command: list[str], cores: Iterable[int] = ()) -> float:
        """How long the command takes. That something could not be graded is seen elsewhere."""
        started = time.perf_counter()
        status = self.start(command, cores).wait()
        took = time.perf_counter() - started
        output = (self.folder / "output").read_text(encoding="utf-8")[-3000:]
        ensure(status in (0, 3), f"{' '.join(command)} ended with status {status}\n{output}")
        return took

    def points(self, name: str) -> dict[str, tuple[str, ...]]:
        """Student -> points of every kata and in all, as the table has them."""
        path = self.folder / f"{name}.{self.table}"
        if self.table == "json":
            results = json.loads(path.read_text(encoding="utf-8"))["results"]
            return {
                student["student"]: (
                    *(str(kata["points"]) for kata in student["katas"]),
                    str(student["points"]),
                )
                for student in results
            }
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
        columns = [*(kata.name for kata in self.everybody.katas), "points"]
        return {row["student"]: tuple(row[column] for column in columns) for row in rows}

    def ratio(self, name: str, above: float, below: float) -> float | None:
        """Their quotient. What is not above 0 cannot be: BenchError, or None in a tiny class."""
        if not self.sizes.exact and min(above, below) <= 0:
            return None
        sample(name, (above, below))
        return round(above / below, 2)

    def still_running(self, processes: set[int], seconds: float = 10.0) -> int:
        """How many of these and of all marked processes still live after a while."""
        until = time.monotonic() + seconds
        while True:
            living = {pid for pid in processes | marked(MARK, self.mark) if alive(pid)}
            if not living or time.monotonic() > until:
                return len(living)
            time.sleep(0.1)


class Sampler(threading.Thread):
    """Looks at a command's workers again and again.

    peak: the largest memory of a worker and its processes in MB; None if it may not be read.
    workers: the workers that were seen.
    seen: these and all processes below the command's children.
    """

    def __init__(self, pid: int, every: float) -> None:
        super().__init__(daemon=True)
        self.pid, self.every = pid, every
        self.peak: float | None = None
        self.workers: set[int] = set()
        self.seen: set[int] = set()
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(self.every):
            for child in children_of(self.pid):
                self.seen |= tree_of(child)
                with contextlib.suppress(OSError):
                    if WORKER not in Path(f"/proc/{child}/cmdline").read_text():
                        continue
                    self.workers.add(child)
                    size = pss_mb(tree_of(child))
                    if size is not None:
                        self.peak = max(self.peak or 0.0, size)

    def stop(self) -> None:
        """Raises BenchError if no worker was seen."""
        self.over.set()
        self.join()
        ensure(self.workers, f"no process runs {WORKER}")


def rows(ledger: Path, query: str) -> list[Any]:
    """The rows of a ledger that somebody may be writing to."""
    with contextlib.closing(sqlite3.connect(ledger, timeout=30)) as opened:
        return opened.execute(query).fetchall()


# What is measured


def start_up(bench: Bench, name: str, workers: int, cores: Iterable[int] = ()) -> float:
    """Seconds of a command beside the judging: one small verdict for each worker."""
    kata = bench.catalog["dot-product"]
    bench.everybody.write_right(bench.folder / name, kata, workers)
    took = bench.seconds(bench.command(bench.folder / name, name, workers, kata.name), cores)
    times = [row[0] for row in rows(bench.ledger(name), "select seconds from verdicts")]
    return took - max(sample("start-up", times))


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
    entries = rows(
        bench.ledger("whole"),
        "select student, e.kata, outcome, seconds from entries e join verdicts using (key)",
    )
    expected = students * len(bench.everybody.katas)
    ensure(len(entries) == expected, f"the ledger has {len(entries)} verdicts of {expected}")
    each: collections.Counter[str] = collections.Counter()
    by_outcome: dict[str, list[float]] = {}
    surprises = []
    for student, kata, outcome, seconds in entries:
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
    verdicts = [seconds for *_, seconds in entries]
    return {
        "seconds": took,
        "per_second_per_core": round(students / took / cores, 3),
        "submission_median_s": round(median("submissions", each.values()), 2),
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
        "ours_cold": median("alone", alone),
    }


def peers(bench: Bench, environments: Path) -> dict[str, float]:
    """Seconds per submission of the peers that are installed."""
    seconds = {}
    if Otter.is_installed(environments / "otter"):
        otter = Otter(environments / "otter", bench.folder / "otter", 1)
        seconds["otter"] = median("otter", (otter.one() for _ in range(bench.sizes.rounds)))
    if Nbgrader.is_installed(environments / "nbgrader"):
        students = bench.sizes.batch
        nbgrader = Nbgrader(environments / "nbgrader", bench.folder / "nbgrader", students)
        if bench.sizes.rounds > 1:
            times = [nbgrader.one() for _ in range(bench.sizes.rounds)]
            seconds["nbgrader_cold"] = median("nbgrader", times)
        seconds["nbgrader"] = nbgrader.everybody() / students
    return seconds


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
        if bench.sizes.exact:
            starts.append(start_up(bench, f"start-of-{workers}", workers, cores))
    print("scaling, 1 and 2 workers:", *(f"{took:.1f} s" for took in times))
    print("  start-up:", *(f"{took:.1f} s" for took in starts))
    bare = [took - start for took, start in zip(times, starts, strict=False)]
    return {
        "scaling_2": round(times[0] / times[1], 2),
        "scaling_2_without_start": bench.ratio("scaling", *bare) if bare else None,
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
    processes = sampler.seen | tree_of(process.pid)
    process.send_signal(signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    first = time.perf_counter() - started
    sampler.stop()
    orphans = bench.still_running(processes | sampler.seen)
    before = judgings(ledger)
    second = bench.seconds(command)
    orphans_at_end = bench.still_running(set())
    after = judgings(ledger)
    again = sum(after.get(key) != when for key, when in before.items())
    points, control = bench.points("large"), bench.points("whole")
    differing = [who for who, theirs in control.items() if points.get(who) != theirs]
    missing = {f"s{number:04}" for number in range(students)} - points.keys()
    print(f"  killed after {first:.1f} s with {len(before)} of {len(after)} verdicts;")
    print(f"  once more, to the end: {second:.1f} s. Judged again {again}, missing {len(missing)},")
    print(f"  other points {len(differing)} of {len(control)}, still running {orphans}", end=" ")
    print(f"and {orphans_at_end} at the end")
    ensure(points, "the table has no students")
    interrupted = killed and 0 < len(before) < len(after)
    faults = (again, missing, differing, orphans, orphans_at_end)
    return {
        "seconds": first + second,
        "resume_ok": interrupted and not any(faults),
        "worker_mb": None if sampler.peak is None else round(sampler.peak),
    }


def judged_in(ledger: Path) -> int:
    try:
        return int(rows(ledger, "select count(*) from verdicts where seconds > 0")[0][0])
    except (sqlite3.Error, IndexError):
        return 0  # it is not there yet


def judgings(ledger: Path) -> dict[str, tuple[str, float]]:
    """When each verdict was made that took a judge, and its seconds. A new judging differs."""
    query = "select key, at, seconds, outcome from verdicts where seconds > 0"
    return {
        key: (at, seconds)
        for key, at, seconds, outcome in rows(ledger, query)
        if outcome != "could not grade"
    }


def growth(bench: Bench, at_whole: float, at_large: float) -> dict[str, Any]:
    """Seconds per submission without start-up, by the size of the class."""
    sizes, workers = bench.sizes, len(bench.cores)
    starts = [start_up(bench, f"start-{n}", workers) for n in range(min(sizes.rounds, 3))]
    start = median("start-up", starts)
    times = [
        graded(bench, f"small-{n}", range(n * sizes.small, (n + 1) * sizes.small), workers)[0]
        for n in range(sizes.smalls)
    ]
    small = (statistics.mean(times) - start) / sizes.small
    middle = (at_whole - start) / sizes.whole
    large = (at_large - 2 * start) / sizes.large
    each = {sizes.small: small, sizes.whole: middle, sizes.large: large}
    print(
        f"start-up {start:.1f} s; seconds per submission",
        *(f"{n}: {s:.3f}" for n, s in each.items()),
    )
    return {
        "growth": bench.ratio("growth", large, small),
        "growth_100": bench.ratio("growth_100", large, middle),
        "start_up_s": round(start, 2),
        "submission_s": {str(size): round(value, 3) for size, value in each.items()},
    }


def over(name: str, theirs: float | None, ours: float) -> float | None:
    """A peer's seconds over ours; None for a peer that was not asked."""
    return None if theirs is None else round(median(name, [theirs]) / median("ours", [ours]), 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options = parser.add_mutually_exclusive_group()
    for name, sizes, text in (
        ("--short", SHORT, "smaller classes: some ten minutes instead of forty"),
        ("--quick", QUICK, "to see that it works: half a minute"),
        ("--smoke", SMOKE, "two students: the smallest run there is"),
    ):
        options.add_argument(
            name, dest="sizes", action="store_const", const=sizes, default=FULL, help=text
        )
    parser.add_argument(
        "--peers", type=Path, default=ROOT / ".bench", help="where bench/setup put them"
    )
    arguments = parser.parse_args()
    sizes = arguments.sizes
    if not sizes.exact:
        print(f"{sizes}\nnothing hangs, and peers run beside us: no figure to quote")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        bench = Bench(Path(folder).resolve(), sizes)
        figures = dict.fromkeys(KEYS)
        if sizes.only_class:
            figures |= {**whole(bench), **resume(bench)}
            del figures["seconds"]
        else:
            figures |= everything(bench, arguments.peers)
    report(figures, KEYS)


def everything(bench: Bench, environments: Path) -> dict[str, Any]:
    """All figures. Peers run beside us where no figure is meant to be quoted."""
    with ThreadPoolExecutor(1) as beside:
        theirs_later = beside.submit(peers, bench, environments)
        if bench.sizes.exact:
            theirs_later.result()
        ours = softmax(bench)
        class_figures = whole(bench)
        scaling_figures = scaling(bench)
        resume_figures = resume(bench)
        growth_figures = growth(bench, class_figures.pop("seconds"), resume_figures.pop("seconds"))
        theirs = theirs_later.result()
    for name, value in {**ours, **theirs}.items():
        print(f"softmax, seconds per submission, {name:14}{value:8.3f}")
    return {
        **class_figures,
        **scaling_figures,
        **resume_figures,
        **growth_figures,
        "otter_over_ours": over("otter", theirs.get("otter"), ours["ours"]),
        "nbgrader_over_ours": over("nbgrader", theirs.get("nbgrader"), ours["ours"]),
        "otter_over_ours_one_core": over("otter", theirs.get("otter"), ours["ours_one_core"]),
        "nbgrader_over_ours_one_core": over(
            "nbgrader", theirs.get("nbgrader"), ours["ours_one_core"]
        ),
        "otter_over_ours_cold": over("otter", theirs.get("otter"), ours["ours_cold"]),
        "nbgrader_over_ours_cold": over("nbgrader", theirs.get("nbgrader_cold"), ours["ours_cold"]),
    }


if __name__ == "__main__":
    main()
