"""How a class is judged."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from attention_katas.packs.catalog import Selection

# The environment variable with the secret that decides all inputs; no judging process gets it.
SECRET_VARIABLE = "KATA_GRADING_SEED"  # noqa: S105 - its name


@dataclass(frozen=True)
class Settings:
    """How to judge a class.

    workers: how many judging processes.
    packs: those that the command line names.
    device: where submissions run.
    weak: go on without the restrictions that this system lacks.
    kata_seconds: what all checks of a kata may take.
    """

    workers: int = 1
    packs: Selection = field(default_factory=Selection)
    device: str = "cpu"
    weak: bool = False
    kata_seconds: float = 120.0

    def to_json(self) -> str:
        fields = {**asdict(self), "packs": list(map(str, self.packs.folders))}
        return json.dumps({**fields, "only": self.packs.only})


def settings_from(text: str) -> Settings:
    """The settings that `Settings.to_json` wrote."""
    fields = json.loads(text)
    packs = Selection(tuple(map(Path, fields["packs"])), fields.pop("only"))
    return Settings(**{**fields, "packs": packs})
