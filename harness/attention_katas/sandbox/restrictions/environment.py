"""Empty environment: no variable of the judge's is left to read or to inherit."""

from __future__ import annotations

import os

NAME = "empty environment"
# Code that imports torch._dynamo (reentrant checkpoints do) makes this folder if it is not there.
CONSTANT = {"TORCHINDUCTOR_CACHE_DIR": "/tmp"}  # noqa: S108


def apply() -> str:
    os.environ.clear()
    os.environ.update(CONSTANT)
    return NAME
