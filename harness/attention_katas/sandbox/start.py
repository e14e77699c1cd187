"""Sandbox workers for a device: forked where this system allows it, else spawned.

with start_workers(hidden) as workers:
    worker = workers.take(submission_key, bans)
    reply, tensors = worker.ask({"do": "load", ...}, seconds=10)
    workers.give_back(worker)
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from attention_katas.sandbox.forked_workers import ForkedWorkers
from attention_katas.sandbox.limits import Limits
from attention_katas.sandbox.spawned_workers import SpawnedWorkers


def can_fork(device: str) -> bool:
    """Whether a process that has imported torch can be forked: on Linux, without a CUDA context."""
    return sys.platform == "linux" and device == "cpu"


Workers = ForkedWorkers | SpawnedWorkers


@contextlib.contextmanager
def start_workers(
    hidden: Sequence[Path],
    *,
    device: str = "cpu",
    spawn: bool = False,
    limits: Limits | None = None,
) -> Iterator[Workers]:
    """Sandbox workers for `device`, closed at the end.

    hidden: files and folders that they must not read.
    spawn: do not fork, even where that is possible.
    """
    kind = ForkedWorkers if can_fork(device) and not spawn else SpawnedWorkers
    workers = kind(hidden, limits or Limits(), device)
    try:
        yield workers
    finally:
        workers.close()
