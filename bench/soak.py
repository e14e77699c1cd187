"""Kill the examiner, the zygote and the learner at random moments.  python bench/soak.py [--quick]

A worker judges one file again and again and records every attempt, as `kata run` does; it says so
only once that is written. Meanwhile one of its processes is killed with SIGKILL, and the next,
and the next. Nothing that was reported may be missing from the progress file, nothing may be left
running, and at the end a run has to work. The last line is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

RIGHT = "def scaled_scores(q, k):\n    return (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)\n"


def work(folder: str) -> None:
    """The worker: judge and record until killed."""
    from attention_katas.cli.shared import progress_of
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.precheck import read_submission
    from attention_katas.packs.workspace import Workspace
    from attention_katas.service import local

    catalog, space = load_catalog(), Workspace(Path(folder))
    progress, kata = progress_of(space), catalog["scale"]
    with local.open_judge(catalog, [kata]) as judge:
        while True:
            verdict = judge.judge(read_submission(catalog, kata, space.path(kata)))
            progress.record(verdict, "")
            print(verdict.outcome, flush=True)


class Worker:
    """The worker process, what it has reported, and its family."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder)], stdout=subprocess.PIPE, text=True
        )
        self.said: list[str] = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.said += [line.strip() for line in iter(self._line, "")]

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return line if line.endswith("\n") else ""

    def family(self) -> dict[str, list[int]]:
        from attention_katas.sandbox.restrictions.linux import children_of

        zygotes = children_of(self.process.pid)
        templates = [pid for zygote in zygotes for pid in children_of(zygote)]
        learners = [pid for template in templates for pid in children_of(template)]
        return {
            "examiner": [self.process.pid],
            "zygote": zygotes,
            "template": templates,
            "learner": learners,
        }


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def soak(folder: Path, times: int, chance: random.Random) -> dict[str, int]:
    """Kill `times` processes; counts of what was reported, lost and left."""
    from attention_katas.cli.shared import progress_of
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.precheck import read_submission
    from attention_katas.packs.workspace import Workspace, create
    from attention_katas.service import open_service, verdict_of
    from attention_katas.verdict.data import COULD_NOT_GRADE, CRASHED, PASSED

    catalog = load_catalog()
    create(folder, catalog)
    (folder / "scale.py").write_text(RIGHT, encoding="utf-8")
    count = dict.fromkeys(("killed", "reported", "orphans", "crashed", "wrong"), 0)
    worker, everybody = Worker(folder), set()

    def settle() -> None:
        nonlocal everybody
        worker.process.wait()
        worker.reader.join()
        if worker.process.stdout is not None:
            worker.process.stdout.close()
        count["reported"] += sum(word != COULD_NOT_GRADE for word in worker.said)
        # Killed twice in one judging, a learner looks like one that ends itself.
        count["crashed"] += sum(word == CRASHED for word in worker.said)
        fine = (PASSED, COULD_NOT_GRADE, CRASHED)
        count["wrong"] += sum(word not in fine for word in worker.said)
        deadline = time.monotonic() + 5
        while any(map(alive, everybody)) and time.monotonic() < deadline:
            time.sleep(0.05)
        count["orphans"] += sum(map(alive, everybody))
        everybody = set()

    while count["killed"] < times:
        time.sleep(chance.uniform(0.0, 0.6 if chance.random() < 0.5 else 3.0))
        family = worker.family()
        everybody |= {pid for pids in family.values() for pid in pids}
        kind = chance.choices(list(family), [1, 2, 2, 5])[0]
        if not family[kind]:
            continue
        try:
            os.kill(chance.choice(family[kind]), signal.SIGKILL)
        except ProcessLookupError:
            continue
        count["killed"] += 1
        if count["killed"] % 25 == 0:
            print(f"{count['killed']} killed ...", file=sys.stderr, flush=True)
        if kind == "examiner":
            settle()
            worker = Worker(folder)
    everybody |= {pid for pids in worker.family().values() for pid in pids}
    worker.process.kill()
    settle()
    space = Workspace(folder)
    state = progress_of(space).state("scale", catalog["scale"].version, "")
    count["lost"] = max(count["reported"] - state.attempts, 0)
    kata = catalog["scale"]
    with contextlib.closing(open_service(catalog, [kata], cold=True)) as service:
        last = verdict_of(service, read_submission(catalog, kata, folder / "scale.py"))
    count["next_run_works"] = int(last.outcome == PASSED)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="as many as fit into 30 s")
    parser.add_argument("--times", type=int, default=500, help="how many processes to kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return
    with tempfile.TemporaryDirectory() as folder:
        times = 15 if given.quick else given.times
        count = soak(Path(folder).resolve(), times, random.Random(given.seed))
    for name, value in count.items():
        print(f"{name}: {value}")
    print(json.dumps(count))


if __name__ == "__main__":
    main()
