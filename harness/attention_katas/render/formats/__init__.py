"""Formats of `kata run --format`: one module for each, found by being in this folder.

A module has a constant `FORMAT`, and its name is the format's. `text` is no module: it is the
screen, which needs the terminal and the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_katas.render.registry import Format, Registry
from attention_katas.verdict.data import Verdict

SCREEN = "text"


@dataclass(frozen=True)
class RunFormat(Format):
    """A format of `kata run --format NAME`.

    summary: one line about it.
    render: turns the verdicts of a run into the document that is printed as it is.
    """

    render: Callable[[Sequence[Verdict]], str]


REGISTRY = Registry(__name__, RunFormat, "kata run --help", reserved=(SCREEN,))
