"""What happens to softmax as vectors get wider, with and without the division by sqrt(d_k)."""

from __future__ import annotations

from typing import Any

from attention_katas.lab import scene
from attention_katas.lab.live import Live
from attention_katas.lab.panels.lookup import figures, softmax


def answer(live: Live, _: dict[str, Any]) -> dict[str, Any]:
    """For each d_k the means over 32 random queries and 16 random keys of unit spread."""
    curves: dict[str, list[Any]] = {"raw": [], "divided": []}
    for name, function in (("raw", "attention_scores"), ("divided", "scaled_scores")):
        for width in scene.WIDTHS:
            scores = live.step(function, scene.random_vectors(width))
            weights = softmax(live, scores)
            curves[name].append(
                {
                    "d_k": width,
                    **figures(scores, weights),
                    "states": [scores.words(), weights.words()],
                }
            )
    return {"curves": curves}
