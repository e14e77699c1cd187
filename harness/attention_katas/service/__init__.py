"""Where verdicts come from: a caller knows `JudgeService` and nothing below it.

`open_service` opens the service for one learner, `open_class_service` that for a class. Below are
`local` (this process), `daemon` (a background process, Linux), `pool` (processes of this machine)
and `cluster` (Dask). `follow` judges the newest save; `messages` and `rpc` are the one protocol.
"""

from __future__ import annotations

from attention_katas.service.choose import open_class_service, open_service
from attention_katas.service.judge_service import (
    Cancelled,
    ClassService,
    JudgeService,
    Task,
    verdict_of,
)
from attention_katas.service.settings import Settings

__all__ = [
    "Cancelled",
    "ClassService",
    "JudgeService",
    "Settings",
    "Task",
    "open_class_service",
    "open_service",
    "verdict_of",
]
