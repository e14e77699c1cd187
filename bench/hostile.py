"""Can the judge be fooled, killed or littered?  python bench/hostile.py [--quick]

Judges the files of tests/hostile/ one after the other, looks after each for processes and files
that were left, and measures what the locks and the short canary cost. The last line is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def attacks(seconds: float):
    """Judge every file (as many as fit into `seconds`); counts of what happened."""
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.service.local import open_judge
    from tests.hostility import FILES, LIMITS, judged, left_behind, traces, wanted

    catalog, files = load_catalog(), list(FILES)
    random.Random(0).shuffle(files)
    count = dict.fromkeys(("tried", "right_outcome", "leaked_processes", "leaked_files"), 0)
    started = time.monotonic()
    with open_judge(catalog, catalog.ready, limits=LIMITS) as judge:
        for path in files:
            if seconds and time.monotonic() - started > seconds:
                break
            before = traces()
            verdict = judged(judge, catalog, path)
            right = verdict.outcome in wanted(path).outcomes
            left = left_behind(before)
            count["tried"] += 1
            count["right_outcome"] += right
            count["leaked_processes"] += len(left["processes"])
            count["leaked_files"] += len(left["files"])
            if not right or any(left.values()):
                name = f"{path.parent.name}/{path.stem}"
                print(f"  {name}: {verdict.outcome}: {verdict.message} {left}")
    return count


def deaths(seconds: float):
    """Run `attacks` in a process of its own: the examiner. (counts, how often it died.)"""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if not pid:
        with contextlib.suppress(BaseException):
            os.write(write_end, json.dumps(attacks(seconds)).encode())
        sys.stdout.flush()
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        said = pipe.read()
    status = os.waitpid(pid, 0)[1]
    if status or not said:
        empty = dict.fromkeys(("tried", "right_outcome", "leaked_processes", "leaked_files"), 0)
        return empty, 1
    return json.loads(said), 0


def cost_of_locks(rounds: int) -> tuple[float, float]:
    """Median milliseconds of one check in a fresh fork: (without locks, with all of them)."""
    from attention_katas.sandbox import forkserver, restrictions, runner, wire
    from attention_katas.sandbox.restrictions import landlock
    from attention_katas.service.local import PACKAGE

    forkserver.warm_up()
    ruleset = landlock.prepare([PACKAGE, ROOT / "katas", ROOT / "reference"])
    source = "import torch\ndef f(x):\n    e = x.exp()\n    return e / e.sum(-1, keepdim=True)\n"
    load = {"do": "load", "module": "m", "sources": {"m": source}, "functions": ["f"]}
    import torch

    def check(locked: bool) -> float:
        started = time.perf_counter()
        parent, pid = os.getpid(), os.fork()
        if not pid:
            if locked:
                restrictions.apply_all((), parent, ruleset, memory_mb=1024, cpu_seconds=60)
            worker, sent = runner.Runner(), {}
            worker.answer(load, {})
            call = {"do": "call", "id": 1, "function": "f", "device": "cpu"}
            call |= {"kwargs": wire.pack({}, {}), "args": wire.pack([torch.ones(3, 5)], sent)}
            worker.answer(call, sent)
            os._exit(0)
        os.waitpid(pid, 0)
        return (time.perf_counter() - started) * 1e3

    pairs = [(check(False), check(True)) for _ in range(rounds)]
    return tuple(statistics.median(column) for column in zip(*pairs, strict=True))


def cost_of_canary(rounds: int) -> float:
    """Median milliseconds of the short canary, as every judging process pays it."""
    from attention_katas.judge import ban_check
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.sandbox.start import start_workers
    from attention_katas.service.local import hidden_paths

    bans, found = ("attention", "softmax"), []
    with start_workers(hidden_paths(load_catalog())) as workers:
        workers.give_back(workers.take("warm", bans))
        for _ in range(rounds):
            started = time.perf_counter()
            ban_check.check(workers, bans, ban_check.SHORT)
            found.append((time.perf_counter() - started) * 1e3)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="as much as fits into 30 s")
    given = parser.parse_args()
    rounds = 30 if given.quick else 200
    count, died = deaths(18.0 if given.quick else 0.0)
    canary_ms = cost_of_canary(rounds // 5)
    without, with_all = cost_of_locks(rounds)
    print(f"attacks tried {count['tried']}, right outcomes {count['right_outcome']}")
    print(f"examiner deaths {died}, leaked processes {count['leaked_processes']}, ", end="")
    print(f"leaked files {count['leaked_files']}")
    print(f"one check in a fork: {without:.1f} ms without locks, {with_all:.1f} ms with all")
    print(f"short canary: {canary_ms:.1f} ms")
    print(
        json.dumps(
            {
                "tried": count["tried"],
                "right_outcome": count["right_outcome"],
                "examiner_deaths": died,
                "leaked_processes": count["leaked_processes"],
                "leaked_files": count["leaked_files"],
                "added_ms": round(with_all - without, 2),
                "canary_ms": round(canary_ms, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
