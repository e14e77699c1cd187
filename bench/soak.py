"""Kill the judge, the fork server and the sandbox workers at random moments.
python bench/soak.py [--quick | --smoke]

A child judges one file again and again and records every attempt, as `kata run` does; it prints the
outcome only once that is written. Meanwhile one of its processes is killed with SIGKILL, and the
next, and the next. Nothing that was reported may be missing from the progress file, nothing may be
left running, and at the end a run has to work. The last line is JSON:

killed           processes that were killed
reported         verdicts that the child reported
orphans, lost    processes left running; attempts that were reported and are not recorded
crashed, wrong   verdicts with those outcomes: crashed, and others that right code cannot have
next_run_works   1 if the run at the end passed
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from measurement import FULL, QUICK, ROOT, SMOKE, add_sizes, ensure, part, report
from processes import alive, children_of

sys.path.insert(0, str(ROOT))
KEYS = ("killed", "reported", "orphans", "crashed", "wrong", "lost", "next_run_works")
TIMES = {FULL: 500, QUICK: 15, SMOKE: 3}
RIGHT = "def scaled_scores(q, k):\n    return (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)\n"


def work(folder: str) -> None:
    """The child: judge and record until killed, or until no sandbox worker is to be had."""
    from attention_katas.cli.shared import progress_of
    from attention_katas.errors import CouldNotGrade
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.precheck import read_submission
    from attention_katas.packs.workspace import Workspace
    from attention_katas.service import open_service, verdict_of

    catalog, space = load_catalog(), Workspace(Path(folder))
    progress, kata = progress_of(space, catalog), catalog["scale"]
    try:
        with contextlib.closing(open_service(catalog, [kata], "cpu", cold=True)) as service:
            while True:
                reading = read_submission(catalog, kata, space.path(kata))
                verdict = verdict_of(service, reading)
                progress.record(verdict, "")
                print(verdict.outcome, flush=True)
    except CouldNotGrade as error:  # its fork server was killed while it started
        sys.exit(error.exit_code)


class Child:
    """The process that judges, the outcomes that it has reported, and its family."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder)], stdout=subprocess.PIPE, text=True
        )
        self.outcomes: list[str] = []
        self.kills = 0
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in iter(self._line, ""):
            self.outcomes.append(line.strip())

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return line if line.endswith("\n") else ""

    def verdicts(self) -> list[str]:
        """The outcomes that it has reported, without `could not grade`."""
        from attention_katas.verdict.data import COULD_NOT_GRADE

        return [outcome for outcome in self.outcomes if outcome != COULD_NOT_GRADE]

    def family(self) -> dict[str, list[int]]:
        """The processes by what they are."""
        servers = children_of(self.process.pid)
        templates = [pid for server in servers for pid in children_of(server)]
        workers = [pid for template in templates for pid in children_of(template)]
        return {
            "judge": [self.process.pid],
            "fork server": servers,
            "template": templates,
            "worker": workers,
        }

    def kill(self, pid: int) -> None:
        """Kill a process of its family. Raises ProcessLookupError if that has just ended."""
        os.kill(pid, signal.SIGKILL)
        self.kills += 1

    def end(self) -> list[str]:
        """Wait for its end; the outcomes that it reported.

        Raises BenchError if it ended for another reason than what was killed.
        """
        from attention_katas.errors import CouldNotGrade

        status = self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        reasons = (-signal.SIGKILL, CouldNotGrade.exit_code) if self.kills else ()
        ensure(status in reasons, f"the child ended by itself, with status {status}")
        return self.outcomes


def soak(folder: Path, times: int, chance: random.Random) -> dict[str, int]:
    """Kill `times` processes; counts of what was reported, lost and left running."""
    from attention_katas.cli.shared import progress_of
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.precheck import read_submission
    from attention_katas.packs.workspace import Workspace, create
    from attention_katas.service import open_service, verdict_of
    from attention_katas.verdict.data import COULD_NOT_GRADE, CRASHED, PASSED

    catalog = load_catalog()
    create(folder, catalog)
    (folder / "scale.py").write_text(RIGHT, encoding="utf-8")
    count = dict.fromkeys(KEYS, 0)
    child, everybody = Child(folder), set()

    def settle() -> None:
        nonlocal everybody
        outcomes = child.end()
        count["reported"] += sum(outcome != COULD_NOT_GRADE for outcome in outcomes)
        # Killed twice in one judging, a sandbox worker looks like one that ends itself.
        count["crashed"] += sum(outcome == CRASHED for outcome in outcomes)
        possible = (PASSED, COULD_NOT_GRADE, CRASHED)
        count["wrong"] += sum(outcome not in possible for outcome in outcomes)
        deadline = time.monotonic() + 30
        while any(map(alive, everybody)) and time.monotonic() < deadline:
            time.sleep(0.05)
        count["orphans"] += sum(map(alive, everybody))
        everybody = set()

    while count["killed"] < times:
        # Without some verdicts between the kills there is nothing that could be lost.
        if 3 * (count["reported"] + len(child.verdicts())) <= count["killed"]:
            has_judged(child, len(child.verdicts()) + 1)
        time.sleep(chance.uniform(0.0, 0.6 if chance.random() < 0.5 else 3.0))
        if child.process.poll() is not None:
            settle()
            child = Child(folder)
        family = child.family()
        everybody |= {pid for pids in family.values() for pid in pids}
        kind = chance.choices(list(family), [1, 2, 2, 5])[0]
        if not family[kind]:
            continue
        try:
            child.kill(chance.choice(family[kind]))
        except ProcessLookupError:
            continue
        count["killed"] += 1
        if count["killed"] % 25 == 0:
            print(f"{count['killed']} killed ...", file=sys.stderr, flush=True)
        if kind == "judge":
            settle()
            child = Child(folder)
    if not has_judged(child):
        settle()
        child = Child(folder)
        ensure(has_judged(child), "a child that nobody disturbs ended by itself")
    everybody |= {pid for pids in child.family().values() for pid in pids}
    child.kill(child.process.pid)
    settle()
    space = Workspace(folder)
    state = progress_of(space, catalog).state("scale", catalog["scale"].version, "")
    count["lost"] = max(count["reported"] - state.attempts, 0)
    kata = catalog["scale"]
    with contextlib.closing(open_service(catalog, [kata], "cpu", cold=True)) as service:
        verdict = verdict_of(service, read_submission(catalog, kata, folder / kata.file))
    count["next_run_works"] = int(verdict.outcome == PASSED)
    return count


def has_judged(child: Child, count: int = 1, seconds: float = 60.0) -> bool:
    """Wait until it has reported so many verdicts; False when it ends before.

    Raises BenchError if it takes longer than `seconds`.
    """
    until = time.monotonic() + seconds
    while len(child.verdicts()) < count:
        if child.process.poll() is not None:
            return False
        ensure(time.monotonic() < until, f"no verdict within {seconds:.0f} s")
        time.sleep(0.05)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "as many as fit into 30 s")
    parser.add_argument("--times", type=int, help="how many processes to kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    times = options.times or TIMES[options.size]
    with tempfile.TemporaryDirectory() as folder:
        count = soak(Path(folder).resolve(), times, random.Random(options.seed))
    for name, value in count.items():
        print(f"{name}: {value}")
    part("lost", count["lost"], count["reported"])
    part("wrong", count["wrong"] + count["crashed"], count["reported"])
    report(count, KEYS)


if __name__ == "__main__":
    main()
