"""Panel 4: the row of one query through score, scale, mask, softmax and blend."""

from __future__ import annotations

from typing import Any

from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels import params as ask
from attention_katas.lab.panels.sentence import chosen, masking, weighing


def answer(live: LearnerFunctions, asked: dict[str, Any]) -> dict[str, Any]:
    """Row `row` of every step, each of shape (T,), and the blend (d_v,), as JSON.

    asked: sentence, head, causal, row.
    """
    choices = chosen({**asked, "divide": True})
    head = choices.head
    row = ask.whole(asked, "row", 0, len(head.tokens) - 1)
    score = live.step("attention_scores", (head.q, head.k))
    scale = live.step("scaled_scores", (head.q, head.k))
    weights = weighing(live, choices, scale)
    inputs = tuple(vectors[None, None] for vectors in (head.q, head.k, head.v))
    blend = live.step("scaled_dot_product_attention", inputs, causal=choices.causal)
    rows = {
        "tokens": head.tokens,
        "query": head.q[row].tolist(),
        "score": score.as_json(row),
        "scale": scale.as_json(row),
        "softmax": weights.as_json((0, 0, row) if choices.causal else row),
        "blend": blend.as_json((0, 0, row)),
    }
    if choices.causal:
        rows["mask"] = masking(live, choices).as_json(row)
    return rows
