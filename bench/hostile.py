"""Can the judge be fooled, killed or littered?  python bench/hostile.py [--quick | --smoke]

Judges the files of tests/hostile/ one after the other, looks after each for processes and files
that were left, and measures what the restrictions and the short ban check cost. The last line is
JSON:

tried, right_outcome            files that were judged; of those, with the outcome they ask for
examiner_deaths                 1 if a file ended the judging process
leaked_processes, leaked_files  that were there after a verdict and not before
added_ms                        median cost of all restrictions to one check in a fresh fork
canary_ms                       median cost of the short ban check, which every judge pays once
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator

from measurement import (
    FULL,
    QUICK,
    ROOT,
    SMOKE,
    add_sizes,
    ensure,
    leave_child,
    median,
    part,
    report,
    run_child,
)

sys.path.insert(0, str(ROOT))
KEYS = (
    "tried",
    "right_outcome",
    "examiner_deaths",
    "leaked_processes",
    "leaked_files",
    "added_ms",
    "canary_ms",
)
SOURCE = "import torch\ndef f(x):\n    e = x.exp()\n    return e / e.sum(-1, keepdim=True)\n"
# Seconds for the attacks (0: no limit), and rounds of the two measurements of cost.
SIZES = {FULL: (0.0, 200), QUICK: (18.0, 30), SMOKE: (6.0, 10)}


def attacks(seconds: float) -> Iterator[dict[str, int]]:
    """Judge every file (as many as fit into `seconds`); counts of each."""
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.service.local import open_judge
    from attention_katas.verdict import words
    from attention_katas.verdict.data import COULD_NOT_GRADE
    from tests.hostility import FILES, LIMITS, judged, left_behind, traces, wanted

    catalog, files = load_catalog(), list(FILES)
    random.Random(0).shuffle(files)
    with open_judge(catalog, catalog.ready, limits=LIMITS) as judge:
        started = time.monotonic()
        for path in files:
            before = traces()
            verdict = judged(judge, catalog, path)
            right = verdict.outcome in wanted(path).outcomes
            traces_left = left_behind(before)
            if not right or any(traces_left.values()):
                name = f"{path.parent.name}/{path.stem}"
                print(f"  {name}: {verdict.outcome}: {words.verdict(verdict)} {traces_left}")
            yield {
                "tried": 1,
                "right_outcome": int(right),
                "could_not_grade": int(verdict.outcome == COULD_NOT_GRADE),
                "leaked_processes": len(traces_left["processes"]),
                "leaked_files": len(traces_left["files"]),
            }
            if seconds and time.monotonic() - started > seconds:
                break


def counted(seconds: float) -> tuple[collections.Counter[str], int]:
    """Run `attacks` in a process of its own, the judge's: (counts, how often it died)."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        leave_child(lambda: write_counts(write_end, seconds))
    os.close(write_end)
    count: collections.Counter[str] = collections.Counter()
    with os.fdopen(read_end) as lines:
        for line in lines:
            count.update(json.loads(line))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    ensure(status != 1, "the judging process raised an exception")
    return count, int(status != 0)


def write_counts(descriptor: int, seconds: float) -> None:
    for counts in attacks(seconds):
        os.write(descriptor, json.dumps(counts).encode() + b"\n")


def cost_of_restrictions(rounds: int) -> tuple[float, float]:
    """Median milliseconds of one check in a fresh fork: (without restrictions, with all)."""
    import torch

    from attention_katas.sandbox import forkserver, restrictions, runner, wire
    from attention_katas.sandbox.restrictions import apply, landlock
    from attention_katas.service.local import PACKAGE

    forkserver.warm_up()
    ruleset = landlock.prepare([PACKAGE, ROOT / "katas", ROOT / "reference"])
    load = {"do": "load", "module": "m", "sources": {"m": SOURCE}, "functions": ["f"]}
    parent = os.getpid()

    def answer() -> None:
        worker, tensors, reply_tensors = runner.Runner(), {}, {}
        ensure(worker.load(load, {}, {})["functions"] == {"f": "function"}, "f was not loaded")
        call = {"do": "call", "id": 1, "function": "f", "device": "cpu"}
        call |= {"kwargs": wire.pack({}, {}), "args": wire.pack([torch.ones(3, 5)], tensors)}
        reply = worker.call(call, tensors, reply_tensors)
        weights = reply_tensors[reply["returned"]["tensor"]]
        ensure(torch.equal(weights, torch.full((3, 5), 0.2)), "f did not give its weights")

    def answer_restricted() -> None:
        names = apply.apply_all((), parent, ruleset, memory_mb=1024, cpu_seconds=60)
        missing = restrictions.missing(names)
        ensure(not missing, f"no figure without all restrictions; missing: {', '.join(missing)}")
        answer()

    def milliseconds(name, work) -> float:
        started = time.perf_counter()
        run_child(name, work)
        return (time.perf_counter() - started) * 1e3

    pairs = [
        (milliseconds("a check", answer), milliseconds("a restricted check", answer_restricted))
        for _ in range(rounds)
    ]
    without, with_all = zip(*pairs, strict=True)
    return statistics.median(without), statistics.median(with_all)


def cost_of_ban_check(rounds: int) -> float:
    """Median milliseconds of the short ban check, as every judging process pays it."""
    from attention_katas.judge import ban_check
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.sandbox.start import start_workers
    from attention_katas.service.local import hidden_paths

    catalog, times = load_catalog(), []
    bans = tuple(dict.fromkeys(family for kata in catalog.ready for family in kata.banned))
    with start_workers(hidden_paths(catalog)) as workers:
        workers.give_back(workers.take("warm", bans))
        for _ in range(rounds):
            started = time.perf_counter()
            routes = ban_check.check(workers, bans, ban_check.SHORT)
            times.append((time.perf_counter() - started) * 1e3)
            ensure(routes, "the ban check tried no route")
    return median("ban check", times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "as much as fits into 30 s")
    seconds, rounds = SIZES[parser.parse_args().size]
    without, with_all = cost_of_restrictions(rounds)
    canary_ms = cost_of_ban_check(max(rounds // 5, 1))
    count, deaths = counted(seconds)
    ensure(count["tried"] or deaths, "no file was judged")
    print(f"attacks tried {count['tried']}, right outcomes {count['right_outcome']}")
    print(f"deaths of the judge {deaths}, leaked processes {count['leaked_processes']}, ", end="")
    print(f"leaked files {count['leaked_files']}")
    print(f"one check in a fork: {without:.1f} ms without restrictions, {with_all:.1f} ms with all")
    print(f"short ban check: {canary_ms:.1f} ms")
    if not deaths:
        part("right_outcome", count["right_outcome"], count["tried"])
        part("graded", count["tried"] - count["could_not_grade"], count["tried"])
        ensure(count["could_not_grade"] < count["tried"], "nothing could be graded")
    result = {
        "tried": count["tried"],
        "right_outcome": count["right_outcome"],
        "examiner_deaths": deaths,
        "leaked_processes": count["leaked_processes"],
        "leaked_files": count["leaked_files"],
        "added_ms": round(with_all - without, 2),
        "canary_ms": round(canary_ms, 1),
    }
    report(result, KEYS)


if __name__ == "__main__":
    main()
