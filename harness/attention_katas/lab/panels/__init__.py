"""The computations of the pictures: one module for each panel, with `answer(live, asked)`.

`asked` comes from the page and is looked at before it is used: whatever does not fit raises
`Unclear`. The answer is plain data, in which every number of the learner's stands beside the
reference's. Which pictures there are, the katas say (`packs.panels`); a pack may bring its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention_katas.errors import BadContent
from attention_katas.judge.modules import load_module
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels import cost, lookup, sentence, steps, width, wiring
from attention_katas.packs import panels
from attention_katas.packs.catalog import Catalog

Answer = Callable[[LearnerFunctions, dict[str, Any]], dict[str, Any]]

OURS: dict[str, Answer] = {
    "lookup": lookup.answer,
    "width": width.answer,
    "sentence": sentence.answer,
    "steps": steps.answer,
    "wiring": wiring.answer,
    "cost": cost.answer,
}
# What may take longer, in a thread and in processes of its own.
SLOW = {"cost", "width"}


@dataclass(frozen=True)
class Panel:
    """A picture.

    name: what the page asks for it by.
    title: in the page's list; "" for ours, which the page knows.
    answer: computes it.
    slow: it may take longer than somebody who drags waits.
    script: what draws it; None for ours, which are part of the page.
    """

    name: str
    title: str
    answer: Answer
    slow: bool
    script: Path | None = None

    @property
    def file(self) -> str:
        """What the page loads the script as; "" for ours."""
        return f"panel-{self.name}.js" if self.script else ""


def panels_of(catalog: Catalog) -> list[Panel]:
    """The pictures that the katas of a catalog show in. Raises BadContent for a broken one."""
    names, files = panels.used(catalog)
    built_in = [Panel(name, "", OURS[name], name in SLOW) for name in names]
    return built_in + [_of_pack(item) for item in files]


def _of_pack(files: panels.PanelFiles) -> Panel:
    """A picture of a pack: its module has `TITLE`, `answer`, and `SLOW` where that is so."""
    module = load_module(files.module)
    title, answer = getattr(module, "TITLE", None), getattr(module, "answer", None)
    if not isinstance(title, str) or not callable(answer):
        raise BadContent(f"{files.module} needs a TITLE and a function answer(live, asked)")
    slow = bool(getattr(module, "SLOW", False))
    return Panel(files.name, title, answer, slow, files.script)
