"""What every bench shares: how much to measure, and checks that something was measured.

A bench calls `size_of` for its options, raises `BenchError` for what cannot be, and ends with
`report`. It exits with a status other than 0 when a child failed, when a figure cannot be, or when
there is nothing to take a figure from.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import traceback
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FULL, QUICK, SMOKE = "full", "quick", "smoke"


class BenchError(SystemExit):
    """The bench did not measure what it is for. Uncaught, it ends the program with status 1."""


def add_sizes(parser: argparse.ArgumentParser, quick: str) -> None:
    """The options --quick and --smoke. quick: what --quick does."""
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument(
        "--quick", dest="size", action="store_const", const=QUICK, default=FULL, help=quick
    )
    sizes.add_argument(
        "--smoke", dest="size", action="store_const", const=SMOKE, help="the smallest run there is"
    )


def ensure(condition: object, message: str) -> None:
    """Raises BenchError with the message unless the condition holds."""
    if not condition:
        raise BenchError(message)


def sample(name: str, values: Iterable[float]) -> list[float]:
    """The values. Raises BenchError when there are none, or when one is no positive number."""
    numbers = list(values)
    ensure(numbers, f"{name}: nothing was measured")
    odd = [number for number in numbers if not (math.isfinite(number) and number > 0)]
    ensure(not odd, f"{name}: cannot be {odd[:1]}")
    return numbers


def median(name: str, values: Iterable[float]) -> float:
    """The median of a sample. Raises BenchError as `sample` does."""
    return statistics.median(sample(name, values))


def p95(name: str, values: Iterable[float]) -> float:
    """The 95th percentile of a sample. Raises BenchError as `sample` does."""
    ordered = sorted(sample(name, values))
    return ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]


def part(name: str, count: int, total: int) -> int:
    """The count. Raises BenchError unless it is a part of a total that is not 0."""
    ensure(total > 0, f"{name}: nothing was tried")
    ensure(0 <= count <= total, f"{name}: {count} of {total} cannot be")
    return count


def run_child(name: str, work: Callable[[], object]) -> None:
    """Run `work` in a fork and wait for it. Raises BenchError unless the child ends with status 0.

    The child ends with status 1 and a traceback on standard error when `work` raises.
    """
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        leave_child(work)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    ensure(status == 0, f"{name}: the child ended with status {status}")


def leave_child(work: Callable[[], object]) -> None:
    """In a fork: run `work` and end the process, with status 1 if `work` raised."""
    try:
        work()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - a fork must not return into its parent's code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def report(result: dict[str, Any], keys: Collection[str]) -> None:
    """Print the figures as the last line, in JSON. Raises BenchError unless the keys are `keys`."""
    difference = set(keys) ^ result.keys()
    ensure(not difference, f"the result lacks, or has besides: {', '.join(sorted(difference))}")
    print(json.dumps(result, allow_nan=False), flush=True)
