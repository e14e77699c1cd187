"""Panel 1: a soft lookup of one query among four keys, with four values."""

from __future__ import annotations

from typing import Any

import torch

from attention_katas.lab import examples, json_numbers
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels import params as ask
from attention_katas.lab.step import Step

EDGE = 3.0


def answer(live: LearnerFunctions, asked: dict[str, Any]) -> dict[str, Any]:
    """Scores (4,), weights (4,), the blend (2,) and figures of the weights, as JSON.

    asked: query [x, y], values (4 points), d_k, divide (by sqrt(d_k)), temperature.
    """
    ((x, y),) = ask.points({"query": [asked.get("query")]}, "query", 1, EDGE)
    values = torch.tensor(
        ask.points(asked, "values", len(examples.WORDS), EDGE), dtype=torch.float64
    )
    width = ask.one_of(asked, "d_k", examples.WIDTHS)
    divide = ask.switch(asked, "divide")
    temperature = ask.numeral(asked, "temperature", 0.05, 20.0)
    q, k = examples.lookup_vectors((x, y), width)

    scores = live.step("scaled_scores" if divide else "attention_scores", (q, k))
    weights = softmax(live, scores, temperature)
    # scaled_dot_product_attention always divides by sqrt(d_k); a longer query cancels that.
    stretch = (1.0 if divide else width**0.5) / temperature
    batched = (q[None, None] * stretch, k[None, None], values[None, None])
    blend = live.step("scaled_dot_product_attention", batched, causal=False)
    return {
        "scores": scores.as_json(0),
        "weights": weights.as_json(0),
        "blend": blend.as_json((0, 0, 0)),
        "figures": figures(scores, weights),
    }


def softmax(live: LearnerFunctions, scores: Step, temperature: float = 1.0) -> Step:
    """The learner's softmax of the scores (rows, keys), with the gradient of its largest weight."""
    right = scores.right / temperature
    top = torch.zeros_like(right).scatter(-1, right.argmax(-1, keepdim=True), 1.0)
    return live.step("softmax", (scores.value / temperature,), (right,), gradient_of=top, dim=-1)


def figures(scores: Step, weights: Step) -> dict[str, Any]:
    """Spread, entropy (nats), largest weight and norm of the gradient, as means over the rows.

    The entry "yours" has the figures of the learner's functions. A figure that is missing there
    is the reference's. A gradient that is None was not returned.
    """
    own_figures: dict[str, Any] = {}
    all_figures = measures(scores.value, weights.value, weights.gradient)
    if scores.answer is not None:
        own_figures["spread"] = all_figures["spread"]
    if weights.answer is not None:
        own_figures |= {name: all_figures[name] for name in ("entropy", "largest")}
        own_figures["gradient"] = all_figures.get("gradient")
    return {
        "yours": own_figures or None,
        "right": measures(scores.right, weights.right, weights.right_gradient),
    }


def measures(
    scores: torch.Tensor, weights: torch.Tensor, gradient: torch.Tensor | None
) -> dict[str, Any]:
    """Figures of scores, weights and the gradient of the scores, each of shape (rows, keys)."""
    scores, weights = scores.double(), weights.double()
    tensors = {
        "spread": scores.std(-1, correction=0).mean(),
        "entropy": -torch.xlogy(weights, weights).sum(-1).mean(),
        "largest": weights.amax(-1).mean(),
    }
    if gradient is not None:
        tensors["gradient"] = gradient.double().norm(dim=-1).mean()
    return {name: json_numbers.number(float(value)) for name, value in tensors.items()}
