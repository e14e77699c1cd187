"""How long is the road to a verdict?  python bench/verdict.py [--quick]

One run measures, interleaved: `kata run softmax` from nothing beside a bare `import torch`, the
judging of each kata with a warm zygote, and the peak memory of the whole process tree. Medians;
these machines are noisy, so read the ratio. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def memory_mb(pid: int) -> float:
    """Proportional set size of the tree: pages that forks share are counted once."""
    total = 0
    for each in tree(pid):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(rollup.split("\nPss:")[1].split()[0])
    return total / 1024


def peak_mb(command: list[str]) -> float:
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, memory_mb(process.pid))
        time.sleep(0.02)
    return peak


def warm_ms(rounds: int) -> dict[str, float]:
    """Median milliseconds from submission to verdict, for each kata's reference."""
    from attention_katas.catalog import load_catalog
    from attention_katas.running import open_judge
    from attention_katas.submission import submission

    catalog = load_catalog()
    found = {}
    with open_judge(catalog, catalog.ready, "cpu") as judge:
        for kata in catalog.ready:
            right = submission(catalog, kata, kata.reference)
            judge.judge(right)
            times = []
            for _ in range(rounds):
                verdict = judge.judge(right)
                assert verdict.outcome == "passed", verdict.message
                times.append(verdict.seconds * 1000)
            found[kata.name] = round(statistics.median(times), 1)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under 40 s")
    quick = parser.parse_args().quick
    kata = [sys.executable, "-m", "attention_katas", "run", "softmax"]
    cold = [*kata, "--device", "cpu", "--file", "reference/softmax.py"]
    bare = [sys.executable, "-c", "import torch"]
    seconds(bare), seconds(cold)
    pairs = [(seconds(cold), seconds(bare)) for _ in range(2 if quick else 9)]
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"kata run softmax, cold      {statistics.median(a for a, _ in pairs):6.2f} s")
    print(f"python -c 'import torch'    {statistics.median(b for _, b in pairs):6.2f} s")
    print(f"ratio, pair by pair         {ratio:6.2f}")
    warm = warm_ms(3 if quick else 20)
    for name, value in warm.items():
        print(f"{name + ', warm':28}{value:6.0f} ms")
    peak = round(peak_mb(cold)) if os.path.exists("/proc/self/smaps_rollup") else None
    print(f"peak memory of all processes{peak or 0:6d} MB")
    print(json.dumps({"cold_over_import": round(ratio, 3), "warm_ms": warm, "peak_mb": peak}))


if __name__ == "__main__":
    main()
