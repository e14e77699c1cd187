"""The words on the page, their vectors, and where those come from.

The page names three sources: vectors in the plane made up for the lookup, heads made by hand for
the sentence, and heads of a trained model (see data/NOTICE).
"""

from __future__ import annotations

import base64
import functools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

DATA = Path(__file__).parent / "data"

# The plane of the soft lookup. Keys point outwards, so that a query in the middle prefers none.
WORDS = ("animal", "street", "cross", "tired")
KEYS = ((1.9, 1.5), (1.6, -1.8), (-1.9, -1.1), (-1.3, 1.9))
VALUES = ((2.1, 0.6), (0.5, -2.0), (-2.0, -0.8), (-0.7, 1.9))
QUERY = (0.9, 0.7)
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)

_START = ("The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too")
SENTENCES = {word: (*_START, word, ".") for word in ("tired", "wide")}

# Head A: keys and queries as (creature, place, deed, state). Between the two sentences only the
# query of "it" and the last word differ.
_KEYS_A = {
    "The": (0.2, 0, 0, 0), "animal": (2.6, 0.2, 0.5, 0.4), "didn't": (0, 0, 1.3, 0),
    "cross": (0, 0.3, 2.4, 0), "the": (0, 0.2, 0, 0), "street": (0.3, 2.6, 0.3, 0.4),
    "because": (0, 0, 0, 0), "it": (0.9, 0.9, 0, 0), "was": (0, 0, 0.9, 0.6), "too": (0, 0, 0, 1.1),
    "tired": (0.2, 0, 0, 2.5), "wide": (0, 0.2, 0, 2.5), ".": (0, 0, 0, 0),
}  # fmt: skip
_QUERIES_A = {
    "The": (1.7, 0, 0, 0), "animal": (1.3, 0, 0, 1.2), "didn't": (0, 0, 2.3, 0),
    "cross": (1.6, 1.6, 0, 0), "the": (0, 1.7, 0, 0), "street": (0, 1.4, 0.8, 0),
    "because": (0, 0, 0.5, 0.5), "was": (0.9, 0.6, 0, 1.8), "too": (0, 0, 0, 2.6),
    ".": (0, 0, 0, 0),
    "it tired": (2.5, 0.2, 0, 0.3), "it wide": (0.2, 2.5, 0, 0.3),
    "tired": (2.4, 0, 0, 0.6), "wide": (0, 2.4, 0, 0.6),
}  # fmt: skip
_LOUDNESS_A = 1.25
_PERIODS_B = (26.0, 11.0, 6.0, 4.0)
_LOUDNESS_B = 2.1

# An English sentence and its translation: the adjective comes first in English only.
SOURCE = ("the", "black", "cat", "is", "asleep")
TARGET = ("le", "chat", "noir", "dort")
_MEANING = {  # article, creature, colour, being, sleep
    "the": (1, 0, 0, 0, 0), "black": (0, 0, 1, 0, 0), "cat": (0, 1, 0, 0, 0),
    "is": (0, 0, 0, 0.9, 0.5), "asleep": (0, 0, 0, 0.3, 1.1), "le": (1, 0.25, 0, 0, 0),
    "chat": (0, 1, 0, 0, 0), "noir": (0, 0.15, 1, 0, 0), "dort": (0, 0, 0, 0.6, 0.9),
}  # fmt: skip


@dataclass(frozen=True)
class Head:
    """One head on one sentence. q, k: (T, d_k); v: (T, d_v); all float64."""

    tokens: tuple[str, ...]
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def lookup_vectors(query: tuple[float, float], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The query (1, d_k) and the keys (4, d_k) of the lookup, with d_k = width.

    The two coordinates are repeated d_k / 2 times and divided by the fourth root of d_k / 2. So the
    dot product grows as sqrt(d_k), as it does on average for vectors whose entries are
    independent and of unit spread.
    """
    times = width // 2
    size = times**-0.25
    q = torch.tensor([query], dtype=torch.float64).repeat(1, times) * size
    k = torch.tensor(KEYS, dtype=torch.float64).repeat(1, times) * size
    return q, k


def random_vectors(width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries (32, width) and keys (16, width) with entries of unit spread, always the same."""
    generator = torch.Generator().manual_seed(width)
    q = torch.randn(32, width, dtype=torch.float64, generator=generator)
    k = torch.randn(16, width, dtype=torch.float64, generator=generator)
    return q, k


@functools.cache
def description() -> dict[str, Any]:
    """Names, tokens and model of the trained heads."""
    found: dict[str, Any] = json.loads((DATA / "minilm_heads.json").read_text(encoding="utf-8"))
    return found


@functools.cache
def _arrays() -> dict[str, Any]:
    # Without pickle, though the file is our own.
    with np.load(DATA / "minilm_heads.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def head_names() -> list[str]:
    """The heads made by hand, then the trained ones."""
    return ["A", "B", *description()["heads"]]


@functools.cache
def head(name: str, sentence: str) -> Head:
    """A head by its name, on the sentence that ends in "tired" or "wide"."""
    if name in ("A", "B"):
        return _by_hand(name, sentence)
    number = description()["heads"].index(name)
    arrays = _arrays()
    q, k, v = (
        torch.from_numpy(arrays[f"{sentence}_{part}"][number].astype(np.float64)) for part in "qkv"
    )
    return Head(tuple(description()["sentences"][sentence]["tokens"]), q, k, v)


def _by_hand(name: str, sentence: str) -> Head:
    words = SENTENCES[sentence]
    values = torch.tensor([_KEYS_A[word] for word in words], dtype=torch.float64)
    if name == "A":
        looked_for = [f"it {sentence}" if word == "it" else word for word in words]
        q = torch.tensor([_QUERIES_A[word] for word in looked_for], dtype=torch.float64)
        return Head(words, q * _LOUDNESS_A, values, values)
    places = torch.arange(len(words), dtype=torch.float64)
    return Head(words, _place(places - 1) * _LOUDNESS_B, _place(places) * _LOUDNESS_B, values)


def _place(position: torch.Tensor) -> torch.Tensor:
    """Positions (T,) as points on four circles (T, 8); near points have the larger product."""
    angles = [position * (2 * math.pi / period) for period in _PERIODS_B]
    return torch.stack([turn for a in angles for turn in (a.cos(), a.sin())], -1)


@dataclass(frozen=True)
class Wiring:
    """Two short sequences and the weights of a layer with two heads.

    Each head blends one-hot values, so the output of a layer *is* its attention weights: entry
    8 h + j of an output (1, T, 16) is the weight of head h on position j.

    x: (1, 4, 16), the embedded target sentence.
    context: (1, 5, 20), the embedded source sentence.
    cross: weights of a layer that attends to the context.
    own: weights of a layer that attends to x.
    """

    x: torch.Tensor
    context: torch.Tensor
    cross: dict[str, torch.Tensor]
    own: dict[str, torch.Tensor]


@functools.cache
def wiring() -> Wiring:
    """The sequences and layers of panel 5."""
    x, context = _embedded(TARGET, 16), _embedded(SOURCE, 20)
    return Wiring(x, context, _layer(16, 20, shift=0), _layer(16, 16, shift=1))


def _embedded(words: tuple[str, ...], width: int) -> torch.Tensor:
    """Embeddings (1, T, width): five entries of meaning, then one-hot positions."""
    rows = torch.zeros(1, len(words), width, dtype=torch.float64)
    rows[0, :, :5] = torch.tensor([_MEANING[word] for word in words], dtype=torch.float64)
    rows[0, :, 5 : 5 + len(words)] = torch.eye(len(words), dtype=torch.float64)
    return rows


def _layer(width: int, context: int, shift: int) -> dict[str, torch.Tensor]:
    """Weights of a layer: head 0 matches meanings, head 1 positions, `shift` words back."""
    made = {f"w_{name}": torch.zeros(width, context if name in "kv" else width) for name in "qkvo"}
    loud = 2.8
    for dim in range(5):
        made["w_q"][dim, dim] = made["w_k"][dim, dim] = loud
    for place in range(5):
        made["w_q"][8 + max(place - shift, 0), 5 + place] = loud
        made["w_k"][8 + place, 5 + place] = loud
        made["w_v"][place, 5 + place] = made["w_v"][8 + place, 5 + place] = 1.0
    made["w_o"] = torch.eye(width)
    biases = {f"b_{name}": torch.zeros(width) for name in "qkvo"}
    return {name: value.double() for name, value in {**made, **biases}.items()}


def as_json() -> dict[str, Any]:
    """Words, keys, values and names that the page draws, as JSON."""
    told = description()
    roles = dict(zip(told["heads"], told["head_role"], strict=True))
    return {
        "lookup": {"words": WORDS, "keys": KEYS, "values": VALUES, "query": QUERY},
        "widths": WIDTHS,
        "sentences": {
            name: {"words": words, "tokens": told["sentences"][name]["tokens"]}
            for name, words in SENTENCES.items()
        },
        "heads": {"A": "meaning", "B": "the word before", **roles},
        "wiring": {"source": SOURCE, "target": TARGET},
        "model": told["model"].split(",")[0],
    }


def frozen() -> dict[str, Any]:
    """All vectors for an exported page, those of the trained heads as float16 in base64."""

    def packed(array: Any) -> str:
        return base64.b64encode(np.ascontiguousarray(array, "<f2").tobytes()).decode()

    heads: dict[str, Any] = {}
    for sentence in SENTENCES:
        for name in head_names():
            found = head(name, sentence)
            by_hand = name in ("A", "B")
            heads[f"{name} {sentence}"] = {
                part: getattr(found, part).tolist()
                if by_hand
                else {"f16": packed(getattr(found, part).numpy()), "width": 32}
                for part in "qkv"
            }
    layers = wiring()
    return {
        "heads": heads,
        "wiring": {
            "x": layers.x[0].tolist(),
            "context": layers.context[0].tolist(),
            "cross": {name: value.tolist() for name, value in layers.cross.items()},
            "own": {name: value.tolist() for name, value in layers.own.items()},
        },
    }
