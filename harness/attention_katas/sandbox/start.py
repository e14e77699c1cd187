"""Learner processes for a device, in the way that this system allows.

with start_learners(hidden) as learners:
    learner = learners.take(submission_key, bans)
    reply, tensors = learner.ask({"do": "load", ...}, seconds=10)
    learners.give_back(learner)
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
    """Whether children can be forked after torch is imported: Linux, and no CUDA context."""
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
    """Learner processes for `device`. `spawn` forces the way of systems that cannot fork."""
    make = ForkedWorkers if can_fork(device) and not spawn else SpawnedWorkers
    workers = make(hidden, limits or Limits(), device)
    try:
        yield workers
    finally:
        workers.close()
