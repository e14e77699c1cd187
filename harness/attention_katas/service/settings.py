"""How a class is judged."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

# The environment variable with the secret that decides all inputs; no judging process gets it.
SECRET_VARIABLE = "KATA_GRADING_SEED"  # noqa: S105 - its name


@dataclass(frozen=True)
class Settings:
    """How to judge a class.

    workers: how many judging processes.
    katas: folder of a private set; "" for the katas that ship.
    device: where submissions run.
    weak: go on without the restrictions that this system lacks.
    kata_seconds: what all checks of a kata may take.
    """

    workers: int = 1
    katas: str = ""
    device: str = "cpu"
    weak: bool = False
    kata_seconds: float = 120.0

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def settings_from(text: str) -> Settings:
    """The settings that `Settings.to_json` wrote."""
    return Settings(**json.loads(text))
