"""How long from a save to its verdict?  python bench/latency.py [--quick]

In one run, one after the other, so that a slow machine is slow for all:

- `kata watch --plain` in a workspace of its own: from just before an editor's save (a temporary
  file that is renamed) to the verdict's first line on its output. Right and wrong code take turns;
  wrong code is diagnosed as well. Once more with --spawn, as where forking cannot serve.
- `kata run softmax` with the daemon and without (--cold), beside a bare `import torch`.
- The same file, judged by plain pytest on a short test file, and by torch-judge, if that is there
  (pip install --no-deps torch-judge).

Medians and 95th percentiles in milliseconds; these machines are noisy, so read the ratios. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib import util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KATA = [sys.executable, "-m", "attention_katas"]
PAUSE_S = 0.7  # between a verdict and the next save; a person takes longer
# What is changed in the reference to make it wrong.
MISTAKES = {
    "dot-product": ("-2, -1)", "-2, -1) / q.size(-1) ** 0.5"),
    "scale": ("** -0.5", "** -1.0"),
    "softmax": (".sum(dim, keepdim=True)", ".sum()"),
    "mask": (".tril()", ".triu()"),
    "multihead": ("q.size(-1) ** -0.5", "x.size(-1) ** -0.5"),
    "cross-attention": ("q.size(-1) ** -0.5", "x.size(-1) ** -0.5"),
}
TESTS = """
import pytest, torch
from softmax import softmax

@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 4, 5), (4, 1, 6)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_softmax(shape, dtype):
    x = torch.randn(shape, dtype=torch.float64).to(dtype).requires_grad_()
    for dim in range(-len(shape), len(shape)):
        expected = torch.softmax(x, dim)
        torch.testing.assert_close(softmax(x, dim), expected, atol=1e-2, rtol=1e-2)
    (softmax(x) * x.detach()).sum().backward()
    assert x.grad is not None
"""
TORCH_JUDGE = """
import torch_judge, torch_judge.progress
torch_judge.progress.PROGRESS_PATH = "progress.json"
from softmax import softmax as my_softmax
torch_judge.check("softmax")
"""


class Watch:
    """`kata watch --plain` on one kata, and the times at which its lines came."""

    def __init__(self, space: Path, kata: str, environment: dict[str, str], *options: str) -> None:
        self.file = space / f"{kata.replace('-', '_')}.py"
        self.kata = kata
        source = (ROOT / "reference" / self.file.name).read_text(encoding="utf-8")
        self.right, self.wrong = source, source.replace(*MISTAKES[kata])
        assert self.wrong != self.right, kata
        self._lines: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        self._number = 0
        self._process = subprocess.Popen(
            [*KATA, "watch", kata, "--plain", *options],
            cwd=space,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put((time.perf_counter(), line))

    def verdict(self, seconds: float = 60.0) -> tuple[float, str]:
        """When the next verdict's first line came, and its outcome."""
        until = time.perf_counter() + seconds
        while True:
            at, line = self._lines.get(timeout=max(until - time.perf_counter(), 0.01))
            words = line.split()
            if words[:1] == [self.kata] and words[1] in ("passed", "failed"):
                return at, words[1]

    def save(self, right: bool) -> float:
        """Save it as an editor does; milliseconds to the verdict."""
        self._number += 1
        new = self.file.with_suffix(".tmp")
        text = self.right if right else self.wrong
        new.write_text(f"{text}# {self._number}\n", encoding="utf-8")
        started = time.perf_counter()
        os.replace(new, self.file)
        at, outcome = self.verdict()
        assert outcome == ("passed" if right else "failed"), outcome
        return 1000 * (at - started)

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write("q\n")
            self._process.stdin.close()
        self._process.wait(20)


def wait_until_warm(environment: dict[str, str]) -> None:
    """What a daemon does in its first seconds, between verdicts, is not what is measured."""
    status = [*KATA, "daemon", "status"]
    for _ in range(60):
        told = subprocess.run(status, env=environment, capture_output=True, encoding="utf-8")
        if "is running" in told.stdout and "warming up" not in told.stdout:
            return
        time.sleep(0.5)


def saves(watch: Watch, count: int) -> dict[str, float]:
    """Medians over `count` saves, half of them of wrong code."""
    watch.save(True), watch.save(False)
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(count):
        time.sleep(PAUSE_S)
        times[number % 2 == 0].append(watch.save(number % 2 == 0))
    everything = sorted(times[True] + times[False])
    return {
        "median_ms": round(statistics.median(everything), 1),
        "p95_ms": round(everything[min(int(0.95 * len(everything)), len(everything) - 1)], 1),
        "right_median_ms": round(statistics.median(times[True]), 1),
        "wrong_median_ms": round(statistics.median(times[False]), 1),
    }


def seconds(command: list[str], **options: object) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]
    took = time.perf_counter() - started
    assert done.returncode == 0, done.stdout.decode()
    return took


@contextlib.contextmanager
def workspace() -> Iterator[tuple[Path, dict[str, str]]]:
    """A learner's folder, and an environment whose daemon is nobody else's."""
    with tempfile.TemporaryDirectory(prefix="kata-") as folder:
        environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": folder,
            "KATA_COLD": "",
            "CI": "",
            "PYTHONIOENCODING": "utf-8",
        }
        space = Path(folder, "work")
        seconds([*KATA, "init", str(space)], env=environment)
        try:
            yield space, environment
        finally:
            seconds([*KATA, "daemon", "stop"], env=environment)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="softmax only, fewer saves: under 40 s"
    )
    quick = parser.parse_args().quick
    with workspace() as (space, environment):
        found = {}
        for kata in ("softmax",) if quick else MISTAKES:
            watch = Watch(space, kata, environment)
            watch.save(True)
            wait_until_warm(environment)
            found[kata] = saves(watch, 6 if quick else 100)
            watch.close()
            print(f"save to verdict, {kata:16}", *(f"{k} {v:.0f} " for k, v in found[kata].items()))
        watch = Watch(space, "softmax", environment, "--spawn")
        spawned = saves(watch, 2 if quick else 20)
        watch.close()
        print(f"{'... a spawned process':33}", *(f"{k} {v:.0f} " for k, v in spawned.items()))

        watch = Watch(space, "softmax", environment)  # leaves the right answer, and a daemon
        watch.save(True)
        watch.close()
        run = [*KATA, "run", "softmax"]
        bare = [sys.executable, "-c", "import torch"]
        (space / "test_it.py").write_text(TESTS, encoding="utf-8")
        (space / "judge_it.py").write_text(TORCH_JUDGE, encoding="utf-8")
        commands = {
            "import": bare,
            "warm": run,
            "cold": [*run, "--cold"],
            "pytest": [sys.executable, "-m", "pytest", "-q", "test_it.py"],
        }
        if util.find_spec("torch_judge"):
            commands["torch-judge"] = [sys.executable, "judge_it.py"]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(3 if quick else 15):
            for name, command in commands.items():
                if not quick or number == 0 or name in ("import", "warm"):
                    times[name].append(seconds(command, cwd=space, env=environment))
    middle = {name: statistics.median(values) for name, values in times.items()}
    for name, value in middle.items():
        print(f"{name:14}{value:8.3f} s")
    saved = found["softmax"]["median_ms"] / 1000
    judged = middle.get("torch-judge")
    if judged is None:
        print("torch-judge is not installed: pip install --no-deps torch-judge")
    result = {
        "save_median_ms": found["softmax"]["median_ms"],
        "save_p95_ms": found["softmax"]["p95_ms"],
        "save_spawn_ms": spawned["median_ms"],
        "warm_over_import": round(middle["warm"] / middle["import"], 3),
        "cold_over_import": round(middle["cold"] / middle["import"], 3),
        "pytest_over_watch": round(middle["pytest"] / saved, 1),
        "torch_judge_over_watch": None if judged is None else round(judged / saved, 1),
        "katas": found,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
