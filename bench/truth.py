"""Does the judge ever fail right code, or pass wrong code?  python bench/truth.py [--quick]

Right: the references, the look-alikes of every mistakes.py and the files in tests/right, each on
many seeds; a judgement goes through every dtype of the device. Wrong: every known mistake, and
answers made up without looking. Two processes share the work. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def work(catalog):
    """(right?, kata, label, source, siblings) of everything to be judged."""
    from attention_katas.authoring import mistakes
    from attention_katas.judge.modules import load_module
    from tests.variants import FILES, siblings

    for kata in catalog.ready:
        reference = kata.reference.read_text(encoding="utf-8")
        yield True, kata.name, "reference", reference, {}
        for entry in mistakes.mistakes_in(load_module(kata.mistakes)):
            yield entry.harmless, kata.name, entry.id, mistakes.source_of(kata, entry), {}
        for label, answer in mistakes.FAKES.items():
            yield False, kata.name, label, mistakes.fake_source(kata, kata.reference, answer), {}
    for path in FILES:
        source = path.read_text(encoding="utf-8")
        yield True, path.parent.name, path.stem, source, siblings(source)


def judge_share(share: int, shares: int, right_seeds: int, wrong_seeds: int, spare: float):
    """One process's part: (right?, kata, label, seed, outcome, message) of every judgement."""
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.submission import Submission
    from attention_katas.service.local import open_judge

    catalog, found, started = load_catalog(), [], time.monotonic()
    everything = list(work(catalog))
    random.Random(0).shuffle(everything)  # so that --quick sees something of every kata
    everything = everything[share::shares]
    # Right code is judged in a process for each variant, which is reused for all its seeds.
    for right, seeds in ((True, right_seeds), (False, wrong_seeds)):
        with open_judge(catalog, catalog.ready, "cpu", spawn=right and seeds > 10) as judge:
            for kind, name, label, source, others in everything:
                for seed in range(seeds if kind == right else 0):
                    if spare and time.monotonic() - started > spare * (0.6 if right else 1.0):
                        break
                    kata = catalog[name]
                    sources = {kata.module: source, **others}
                    nothing = {module: frozenset() for module in sources}
                    submission = Submission(kata, sources, kata.file, nothing)
                    if seed and seed % 50 == 0:
                        # A process serves one judging, not hundreds: torch.jit keeps what it made.
                        judge.workers.restart()
                    verdict = judge.judge(submission, seed, until_failure=True)
                    found.append((right, name, label, seed, verdict.outcome, verdict.message))
                    if right != (verdict.outcome == "passed"):
                        print(*found[-1][1:], sep=", ", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="as much as fits into 30 s")
    parser.add_argument("--seeds", type=int, default=200, help="seeds for right code")
    parser.add_argument("--wrong-seeds", type=int, default=5, help="seeds for wrong code")
    given = parser.parse_args()
    seeds = (1, 1, 26.0) if given.quick else (given.seeds, given.wrong_seeds, 0.0)
    shares = min(2, os.cpu_count() or 1)
    with ProcessPoolExecutor(shares, mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(judge_share, i, shares, *seeds) for i in range(shares)]
        found = [row for part in parts for row in part.result()]
    from attention_katas.devices import Device

    dtypes = 1 + len(Device("cpu").dtypes)
    katas = dict.fromkeys(name for _, name, *_ in found)
    print(f"{'kata':18}{'right':>8}{'rejected':>10}{'wrong':>8}{'accepted':>10}   (judgements)")
    for name in katas:
        rows = [row for row in found if row[1] == name]
        right, wrong = [r for r in rows if r[0]], [r for r in rows if not r[0]]
        rejected = sum(r[4] != "passed" for r in right)
        accepted = sum(r[4] == "passed" for r in wrong)
        print(f"{name:18}{len(right):8}{rejected:10}{len(wrong):8}{accepted:10}")
    for right, name, label, seed, outcome, message in found:
        if right != (outcome == "passed"):
            print(f"  {name}/{label}, seed {seed}: {outcome}: {message}")
    rejected = sum(right and outcome != "passed" for right, *_, outcome, _ in found)
    accepted = sum(not right and outcome == "passed" for right, *_, outcome, _ in found)
    print(f"right code goes through {dtypes} dtypes in each judgement")
    print(
        json.dumps(
            {
                "right_tried": dtypes * sum(row[0] for row in found),
                "right_rejected": rejected,
                "wrong_tried": sum(not row[0] for row in found),
                "wrong_accepted": accepted,
            }
        )
    )


if __name__ == "__main__":
    main()
