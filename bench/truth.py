"""Does the judge ever fail right code, or pass wrong code?
python bench/truth.py [--quick | --smoke]

Right: the references, the look-alikes of every mistakes.py and the files in tests/right, each on
many seeds; a judgement goes through every dtype of the device. Wrong: every known mistake, and
answers made up without looking. Two processes share the work. The last line is JSON:

right_tried, right_rejected   right judgements (each dtype counts), and the verdicts against them
wrong_tried, wrong_accepted   wrong judgements, and those that passed
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from measurement import FULL, QUICK, ROOT, SMOKE, add_sizes, ensure, part, report

sys.path.insert(0, str(ROOT))
KEYS = ("right_tried", "right_rejected", "wrong_tried", "wrong_accepted")


@dataclass(frozen=True)
class Size:
    """How much to judge.

    right_seeds: of each right answer.
    wrong_seeds: of each wrong one.
    seconds: of judging in each process; 0 for no limit.
    processes: at most so many share the work.
    """

    right_seeds: int
    wrong_seeds: int
    seconds: float
    processes: int = 2


SIZES = {FULL: Size(200, 5, 0.0), QUICK: Size(1, 1, 22.0), SMOKE: Size(1, 1, 2.0, 1)}


@dataclass(frozen=True)
class Judgement:
    """One verdict. right: whether the code was."""

    right: bool
    kata: str
    label: str
    seed: int
    outcome: str
    message: str

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    def __str__(self) -> str:
        return f"{self.kata}/{self.label}, seed {self.seed}: {self.outcome}: {self.message}"


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


def judge_share(share: int, shares: int, size: Size) -> list[Judgement]:
    """One process's part."""
    from attention_katas.packs.catalog import load_catalog
    from attention_katas.packs.submission import Submission
    from attention_katas.service.local import open_judge
    from attention_katas.verdict import words

    catalog, judgements = load_catalog(), []
    everything = list(work(catalog))
    random.Random(0).shuffle(everything)  # so that --quick sees something of every kata
    everything = everything[share::shares]
    # Right code is judged in a process for each variant, which is reused for all its seeds.
    for right, seeds in ((True, size.right_seeds), (False, size.wrong_seeds)):
        with open_judge(catalog, catalog.ready, "cpu", spawn=right and seeds > 10) as judge:
            seconds = size.seconds * (0.6 if right else 0.4)
            until = time.monotonic() + seconds if seconds else 0.0
            for kind, name, label, source, siblings in everything:
                for seed in range(seeds if kind == right else 0):
                    if until and time.monotonic() > until:
                        break
                    kata = catalog[name]
                    sources = {kata.module: source, **siblings}
                    written = {module: frozenset() for module in sources}
                    submission = Submission(kata, sources, kata.file, written)
                    if seed and seed % 50 == 0:
                        # A process serves one judging, not hundreds: torch.jit keeps what it made.
                        judge.workers.restart()
                    verdict = judge.judge(submission, seed, until_failure=True)
                    judgement = Judgement(
                        right, name, label, seed, verdict.outcome, words.verdict(verdict)
                    )
                    judgements.append(judgement)
                    if right != judgement.passed:
                        print(judgement, file=sys.stderr, flush=True)
    return judgements


def print_table(judgements: list[Judgement]) -> None:
    print(f"{'kata':18}{'right':>8}{'rejected':>10}{'wrong':>8}{'accepted':>10}   (judgements)")
    for name in dict.fromkeys(judgement.kata for judgement in judgements):
        rows = [judgement for judgement in judgements if judgement.kata == name]
        right, wrong = [r for r in rows if r.right], [r for r in rows if not r.right]
        rejected = sum(not r.passed for r in right)
        accepted = sum(r.passed for r in wrong)
        print(f"{name:18}{len(right):8}{rejected:10}{len(wrong):8}{accepted:10}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "as much as fits into 30 s")
    parser.add_argument("--seeds", type=int, default=200, help="seeds for right code")
    parser.add_argument("--wrong-seeds", type=int, default=5, help="seeds for wrong code")
    options = parser.parse_args()
    size = SIZES[options.size]
    if options.size == FULL:
        size = Size(options.seeds, options.wrong_seeds, 0.0)
    shares = min(size.processes, os.cpu_count() or 1)
    with ProcessPoolExecutor(shares, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(judge_share, i, shares, size) for i in range(shares)]
        judgements = [judgement for future in futures for judgement in future.result()]
    from attention_katas.devices import Device

    dtypes = 1 + len(Device("cpu").dtypes)
    print_table(judgements)
    for judgement in judgements:
        if judgement.right != judgement.passed:
            print(f"  {judgement}")
    right, wrong = [j for j in judgements if j.right], [j for j in judgements if not j.right]
    print(f"right code goes through {dtypes} dtypes in each judgement")
    result = {
        "right_tried": dtypes * len(right),
        "right_rejected": part("right", sum(not j.passed for j in right), len(right)),
        "wrong_tried": len(wrong),
        "wrong_accepted": part("wrong", sum(j.passed for j in wrong), len(wrong)),
    }
    report(result, KEYS)
    ungraded = [judgement for judgement in judgements if judgement.outcome == "could not grade"]
    ensure(not ungraded, f"could not be graded: {len(ungraded)}, the first {ungraded[:1]}")


if __name__ == "__main__":
    main()
