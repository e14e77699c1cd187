"""What is computed for each picture: one module a panel, one function `answer(live, asked)` in it.

`asked` comes from the page and is looked at before it is used: whatever does not fit raises
`Unclear`. The answer is plain data, in which every number of the learner's stands beside the
reference's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention_katas.lab.functions import LiveFunctions
from attention_katas.lab.panels import cost, lookup, sentence, steps, width, wiring

Answer = Callable[[LiveFunctions, dict[str, Any]], dict[str, Any]]

# While somebody waits for it with a finger on the page.
QUICK: dict[str, Answer] = {
    "lookup": lookup.answer,
    "sentence": sentence.answer,
    "steps": steps.answer,
    "wiring": wiring.answer,
}
# What may take longer, in a thread and in processes of its own.
SLOW: dict[str, Answer] = {"cost": cost.answer, "width": width.answer}
