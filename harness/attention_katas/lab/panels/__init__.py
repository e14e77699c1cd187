"""The computations of the pictures: one module for each panel, with `answer(live, asked)`.

`asked` are parameters from the page; a parameter that does not fit raises `Unclear`. The answer is
plain data with the learner's numbers and those of the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention_katas.lab.functions import LiveFunctions
from attention_katas.lab.panels import cost, lookup, sentence, steps, width, wiring

Answer = Callable[[LiveFunctions, dict[str, Any]], dict[str, Any]]

# Answered while the user drags.
QUICK: dict[str, Answer] = {
    "lookup": lookup.answer,
    "sentence": sentence.answer,
    "steps": steps.answer,
    "wiring": wiring.answer,
}
# These may take longer: they have a thread and processes of their own.
SLOW: dict[str, Answer] = {"cost": cost.answer, "width": width.answer}
