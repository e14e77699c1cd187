"""Empty environment: no environment variable of the judge can be read or inherited."""

from __future__ import annotations

import os

NAME = "empty environment"
# Importing torch._dynamo, as reentrant checkpoints do, creates this folder if it does not exist.
CONSTANT = {"TORCHINDUCTOR_CACHE_DIR": "/tmp"}  # noqa: S108


def apply() -> str:
    """Clear the environment except for CONSTANT."""
    os.environ.clear()
    os.environ.update(CONSTANT)
    return NAME
