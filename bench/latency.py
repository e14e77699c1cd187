"""How long from a save to its verdict, and how much memory?
python bench/latency.py [--quick | --smoke]

In one run, one after the other, so that a slow machine is slow for all:

- `kata watch --plain` in a workspace of its own: from just before an editor's save (a temporary
  file that is renamed) to the verdict's first line on its output. Right and wrong code take turns;
  wrong code is diagnosed as well. Once more with --spawn, as where forking cannot serve.
- `kata run softmax` with the daemon and without (--cold), beside a bare `import torch`.
- The same file, judged by plain pytest on a short test file, and by torch-judge, if that is there
  (pip install --no-deps torch-judge).

Medians and 95th percentiles in milliseconds; these machines are noisy, so read the ratios. The last
line is JSON:

save_median_ms, save_p95_ms  of softmax: from a save to its verdict
save_spawn_ms                the median with --spawn (null in a smoke run)
warm_over_import, cold_over_import   `kata run` over `import torch`, with the daemon and without
pytest_over_watch, torch_judge_over_watch   seconds of those over a save's (null where not measured)
katas                        the save's figures by kata
peak_mb                      proportional set size of `kata run softmax --cold` and all processes
                             that it starts, the largest of samples; null where only root may read
                             /proc/*/smaps_rollup
watch_peak_mb                the same of `kata watch`, its daemon and their processes, during saves
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import util
from pathlib import Path

from measurement import (
    FULL,
    QUICK,
    ROOT,
    SMOKE,
    BenchError,
    add_sizes,
    ensure,
    median,
    p95,
    report,
)
from processes import PeakMemory, marked, tree_of

KATA = [sys.executable, "-m", "attention_katas"]
MARK = "KATA_BENCH"
KEYS = (
    "save_median_ms",
    "save_p95_ms",
    "save_spawn_ms",
    "warm_over_import",
    "cold_over_import",
    "pytest_over_watch",
    "torch_judge_over_watch",
    "katas",
    "peak_mb",
    "watch_peak_mb",
)
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


@dataclass(frozen=True)
class Size:
    """How much to measure.

    katas: whose saves are timed; all when empty.
    saves: of each kata, half of them of wrong code.
    spawned: saves with --spawn.
    rounds: of every command.
    slow_rounds: of those that take seconds.
    others: whether to time what is not ours as well.
    """

    katas: tuple[str, ...]
    saves: int
    spawned: int
    rounds: int
    slow_rounds: int
    others: bool = True


SIZES = {
    FULL: Size((), 100, 20, 15, 15),
    QUICK: Size(("softmax",), 6, 2, 3, 1),
    SMOKE: Size(("softmax",), 2, 0, 1, 1, others=False),
}


class Watch:
    """`kata watch --plain` on one kata, and the times at which its lines came."""

    def __init__(self, space: Path, kata: str, environment: dict[str, str], *options: str) -> None:
        self.file = space / f"{kata.replace('-', '_')}.py"
        self.kata = kata
        source = (ROOT / "reference" / self.file.name).read_text(encoding="utf-8")
        self.right, self.wrong = source, source.replace(*MISTAKES[kata])
        ensure(self.wrong != self.right, f"{kata}: its reference has no such text to change")
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
            try:
                at, line = self._lines.get(timeout=max(until - time.perf_counter(), 0.01))
            except queue.Empty:
                raise BenchError(f"{self.kata}: no verdict within {seconds:.0f} s") from None
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
        expected = "passed" if right else "failed"
        ensure(outcome == expected, f"{self.kata} {outcome}, and should have {expected}")
        return 1000 * (at - started)

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write("q\n")
            self._process.stdin.close()
        status = self._process.wait(20)
        ensure(status == 0, f"kata watch ended with status {status}")


def wait_until_warm(environment: dict[str, str], seconds: float = 60.0) -> None:
    """What a daemon does in its first seconds, between verdicts, is not what is measured."""
    status = [*KATA, "daemon", "status"]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        output = subprocess.run(status, env=environment, capture_output=True, encoding="utf-8")
        if "is running" in output.stdout and "warming up" not in output.stdout:
            return
        time.sleep(0.5)
    raise BenchError(f"the daemon is not warm after {seconds:.0f} s: {output.stdout}")


def saves(watch: Watch, count: int) -> dict[str, float]:
    """Medians over `count` saves, half of them of wrong code."""
    watch.save(True), watch.save(False)
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(count):
        time.sleep(PAUSE_S)
        times[number % 2 == 0].append(watch.save(number % 2 == 0))
    everything = times[True] + times[False]
    return {
        "median_ms": round(median("saves", everything), 1),
        "p95_ms": round(p95("saves", everything), 1),
        "right_median_ms": round(median("right saves", times[True]), 1),
        "wrong_median_ms": round(median("wrong saves", times[False]), 1),
    }


def saves_of(
    kata: str, space: Path, environment: dict[str, str], count: int
) -> tuple[dict[str, float], float | None]:
    """The figures of one kata's saves with the daemon, and the most memory that was taken.

    Memory is measured during two further saves, so that it does not cost the others time.
    """
    watch = Watch(space, kata, environment)
    watch.save(True)
    wait_until_warm(environment)
    figures = saves(watch, count)
    with PeakMemory(lambda: marked(MARK, environment[MARK])) as memory:
        watch.save(False), watch.save(True)
    watch.close()
    print(f"save to verdict, {kata:16}", *(f"{k} {v:.0f} " for k, v in figures.items()))
    return figures, memory.mb


def spawned_saves(space: Path, environment: dict[str, str], count: int) -> float:
    watch = Watch(space, "softmax", environment, "--spawn")
    figures = saves(watch, count)
    watch.close()
    print(f"{'... a spawned process':33}", *(f"{k} {v:.0f} " for k, v in figures.items()))
    return figures["median_ms"]


def seconds(command: list[str], **options: object) -> float:
    """How long a command takes. Raises BenchError unless it ends with status 0."""
    started = time.perf_counter()
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]
    took = time.perf_counter() - started
    ensure(process.returncode == 0, f"{' '.join(command)}: {process.stdout.decode()}")
    return took


def command_seconds(space: Path, environment: dict[str, str], size: Size) -> dict[str, float]:
    """The median seconds of every command, by its name."""
    run = [*KATA, "run", "softmax"]
    (space / "test_it.py").write_text(TESTS, encoding="utf-8")
    (space / "judge_it.py").write_text(TORCH_JUDGE, encoding="utf-8")
    commands = {
        "import": [sys.executable, "-c", "import torch"],
        "warm": run,
        "cold": [*run, "--cold"],
    }
    if size.others:
        commands["pytest"] = [sys.executable, "-m", "pytest", "-q", "test_it.py"]
        if util.find_spec("torch_judge"):
            commands["torch-judge"] = [sys.executable, "judge_it.py"]
        else:
            print("torch-judge is not installed: pip install --no-deps torch-judge")
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(size.rounds):
        for name, command in commands.items():
            if number < size.slow_rounds or name in ("import", "warm"):
                times[name].append(seconds(command, cwd=space, env=environment))
    medians = {name: median(name, values) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:14}{value:8.3f} s")
    return medians


def cold_peak_mb(space: Path, environment: dict[str, str]) -> float | None:
    """The most memory that a run without the daemon and its processes take."""
    command = [*KATA, "run", "softmax", "--cold"]
    process = subprocess.Popen(command, cwd=space, env=environment, stdout=subprocess.DEVNULL)
    with PeakMemory(lambda: tree_of(process.pid), every=0.05) as memory:
        status = process.wait()
    ensure(status == 0, f"{' '.join(command)} ended with status {status}")
    ensure(memory.processes > 1, "a cold run has to start processes of its own")
    # PyTorch alone takes more than this.
    ensure(memory.mb is None or memory.mb > 100, f"{memory.mb} MB cannot hold a judge")
    return memory.mb


@contextlib.contextmanager
def workspace() -> Iterator[tuple[Path, dict[str, str]]]:
    """A learner's folder, and an environment whose daemon is nobody else's."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        environment = {
            **os.environ,
            "XDG_RUNTIME_DIR": folder,
            "KATA_COLD": "",
            "CI": "",
            "PYTHONIOENCODING": "utf-8",
            MARK: uuid.uuid4().hex,
        }
        space = Path(folder, "work")
        seconds([*KATA, "init", str(space)], env=environment)
        try:
            yield space, environment
        finally:
            seconds([*KATA, "daemon", "stop"], env=environment)


def rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_sizes(parser, "softmax only, fewer saves: under 40 s")
    size = SIZES[parser.parse_args().size]
    figures, peaks = {}, {}
    with workspace() as (space, environment):
        for kata in size.katas or MISTAKES:
            figures[kata], peaks[kata] = saves_of(kata, space, environment, size.saves)
        spawn_ms = spawned_saves(space, environment, size.spawned) if size.spawned else None
        watch = Watch(space, "softmax", environment)  # leaves the right answer, and a daemon
        watch.save(True)
        watch.close()
        medians = command_seconds(space, environment, size)
        peak_mb = cold_peak_mb(space, environment)
    save_seconds = figures["softmax"]["median_ms"] / 1000

    def over_save(name: str) -> float | None:
        return round(medians[name] / save_seconds, 1) if name in medians else None

    result = {
        "save_median_ms": figures["softmax"]["median_ms"],
        "save_p95_ms": figures["softmax"]["p95_ms"],
        "save_spawn_ms": spawn_ms,
        "warm_over_import": round(medians["warm"] / medians["import"], 3),
        "cold_over_import": round(medians["cold"] / medians["import"], 3),
        "pytest_over_watch": over_save("pytest"),
        "torch_judge_over_watch": over_save("torch-judge"),
        "katas": figures,
        "peak_mb": rounded(peak_mb),
        "watch_peak_mb": rounded(peaks["softmax"]),
    }
    report(result, KEYS)


if __name__ == "__main__":
    main()
