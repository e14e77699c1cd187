"""Panel 3: the attention weights of one head on the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention_katas.lab import examples
from attention_katas.lab.functions import LearnerFunctions
from attention_katas.lab.panels import params as ask
from attention_katas.lab.step import Step


@dataclass(frozen=True)
class Chosen:
    """The choices of the page.

    head: queries, keys and values of one head on one sentence.
    causal: whether the causal mask is on.
    divide: whether the scores are divided by sqrt(d_k).
    """

    head: examples.Head
    causal: bool
    divide: bool


def chosen(asked: dict[str, Any]) -> Chosen:
    sentence = ask.one_of(asked, "sentence", tuple(examples.SENTENCES))
    name = ask.one_of(asked, "head", examples.head_names())
    return Chosen(
        examples.head(name, sentence), ask.switch(asked, "causal"), asked.get("divide") is not False
    )


def answer(live: LearnerFunctions, asked: dict[str, Any]) -> dict[str, Any]:
    """Scores (T, T), the mask (T, T) if causal, and weights (T, T), as JSON.

    asked: sentence, head, causal, divide.
    """
    choices = chosen(asked)
    scores = live.step(
        "scaled_scores" if choices.divide else "attention_scores", (choices.head.q, choices.head.k)
    )
    mask = masking(live, choices) if choices.causal else None
    weights = weighing(live, choices, scores)
    matrices = {
        "tokens": choices.head.tokens,
        "scores": scores.as_json(),
        "weights": weights.as_json(() if not choices.causal else (0, 0)),
    }
    if mask is not None:
        matrices["mask"] = mask.as_json()
    return matrices


def masking(live: LearnerFunctions, choices: Chosen) -> Step:
    """The causal mask (T, T) of the sentence."""
    size = len(choices.head.tokens)
    return live.step("causal_mask", (size, size))


def weighing(live: LearnerFunctions, choices: Chosen, scores: Step) -> Step:
    """The weights of the scores (T, T): of shape (T, T), or (1, 1, T, T) with the mask."""
    if choices.causal:
        return live.step("masked_weights", (scores.value[None, None],), (scores.right[None, None],))
    return live.step("softmax", (scores.value,), (scores.right,), dim=-1)
