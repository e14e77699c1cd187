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

from attention_katas.learner.forked import ForkedLearners
from attention_katas.learner.limits import Limits
from attention_katas.learner.spawned import SpawnedLearners


def can_fork(device: str) -> bool:
    """Whether children can be forked after torch is imported: Linux, and no CUDA context."""
    return sys.platform == "linux" and device == "cpu"


Learners = ForkedLearners | SpawnedLearners


@contextlib.contextmanager
def start_learners(
    hidden: Sequence[Path],
    *,
    device: str = "cpu",
    spawn: bool = False,
    limits: Limits | None = None,
) -> Iterator[Learners]:
    """Learner processes for `device`. `spawn` forces the way of systems that cannot fork."""
    make = ForkedLearners if can_fork(device) and not spawn else SpawnedLearners
    learners = make(hidden, limits or Limits(), device)
    try:
        yield learners
    finally:
        learners.close()
