"""What the pictures show: words and their vectors.

There are three kinds of vectors, and the page says which is which: a toy in the plane, heads that
were designed by hand for the sentence, and heads of a trained model (see data/NOTICE).
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

# Head A: the key and the query of each word, as (creature, place, deed, state).
# The two sentences differ only in the query of "it".
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
_SCALE_A = 1.25
_PERIODS_B = (26.0, 11.0, 6.0, 4.0)
_SCALE_B = 2.1

# An English sentence and its translation: in the one the adjective comes first.
SOURCE = ("the", "black", "cat", "is", "asleep")
TARGET = ("le", "chat", "noir", "dort")
_MEANING = {  # article, creature, colour, being, sleep
    "the": (1, 0, 0, 0, 0), "black": (0, 0, 1, 0, 0), "cat": (0, 1, 0, 0, 0),
    "is": (0, 0, 0, 0.9, 0.5), "asleep": (0, 0, 0, 0.3, 1.1), "le": (1, 0.25, 0, 0, 0),
    "chat": (0, 1, 0, 0, 0), "noir": (0, 0.15, 1, 0, 0), "dort": (0, 0, 0, 0.6, 0.9),
}  # fmt: skip


@dataclass(frozen=True)
class Head:
    """One head on one sentence, in float64.

    tokens: the T words.
    q, k: queries and keys, (T, d_k).
    v: values, (T, d_v).
    """

    tokens: tuple[str, ...]
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def lookup_vectors(query: tuple[float, float], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The query (1, d_k) and the keys (4, d_k) of the toy; width: d_k, an even number.

    The two coordinates are repeated d_k / 2 times and divided by the fourth root of d_k / 2. So
    the dot product grows as sqrt(d_k), as its standard deviation does for vectors of independent
    entries with mean 0 and variance 1 (Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1).
    """
    times = width // 2
    size = times**-0.25
    q = torch.tensor([query], dtype=torch.float64).repeat(1, times) * size
    k = torch.tensor(KEYS, dtype=torch.float64).repeat(1, times) * size
    return q, k


def random_vectors(width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries (32, d_k) and keys (16, d_k) from a normal distribution with variance 1.

    They are the same in every call. width: d_k.
    """
    generator = torch.Generator().manual_seed(width)
    q = torch.randn(32, width, dtype=torch.float64, generator=generator)
    k = torch.randn(16, width, dtype=torch.float64, generator=generator)
    return q, k


@functools.cache
def description() -> dict[str, Any]:
    """What comes with the trained heads: names, tokens, the model."""
    content: dict[str, Any] = json.loads((DATA / "minilm_heads.json").read_text(encoding="utf-8"))
    return content


@functools.cache
def _arrays() -> dict[str, Any]:
    # Our own file; without pickle even so.
    with np.load(DATA / "minilm_heads.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def head_names() -> list[str]:
    """Names of all heads: two that were designed by hand, then those of the trained model."""
    return ["A", "B", *description()["heads"]]


@functools.cache
def head(name: str, sentence: str) -> Head:
    """A head by its name, on a sentence of SENTENCES."""
    if name in ("A", "B"):
        return _designed_head(name, sentence)
    number = description()["heads"].index(name)
    arrays = _arrays()
    q, k, v = (
        torch.from_numpy(arrays[f"{sentence}_{part}"][number].astype(np.float64)) for part in "qkv"
    )
    return Head(tuple(description()["sentences"][sentence]["tokens"]), q, k, v)


def _designed_head(name: str, sentence: str) -> Head:
    """Head A attends by meaning, head B to the word before."""
    words = SENTENCES[sentence]
    values = torch.tensor([_KEYS_A[word] for word in words], dtype=torch.float64)
    if name == "A":
        queries = [f"it {sentence}" if word == "it" else word for word in words]
        q = torch.tensor([_QUERIES_A[word] for word in queries], dtype=torch.float64)
        return Head(words, q * _SCALE_A, values, values)
    places = torch.arange(len(words), dtype=torch.float64)
    return Head(words, _place(places - 1) * _SCALE_B, _place(places) * _SCALE_B, values)


def _place(position: torch.Tensor) -> torch.Tensor:
    """Sines and cosines of positions (T,) at four periods, (T, 8).

    The dot product of two rows is largest where the positions are equal.
    """
    angles = [position * (2 * math.pi / period) for period in _PERIODS_B]
    return torch.stack([entry for a in angles for entry in (a.cos(), a.sin())], -1)


@dataclass(frozen=True)
class Wiring:
    """Two short sequences and the weights of two layers with two heads each, in float64.

    Each head hands over one-hot values, so that the output of a layer is its attention weights:
    entry 8 h + j of a row is how much head h attends to position j.

    x: the sequence that asks, (1, 4, 16).
    context: the other sequence, (1, 5, 20).
    cross: weights of the layer that takes keys and values from the context.
    own: weights of the layer that takes them from x.
    """

    x: torch.Tensor
    context: torch.Tensor
    cross: dict[str, torch.Tensor]
    own: dict[str, torch.Tensor]


@functools.cache
def wiring() -> Wiring:
    """The translation of a sentence: TARGET attends to SOURCE, or to itself."""
    x, context = _embedded(TARGET, 16), _embedded(SOURCE, 20)
    return Wiring(x, context, _layer(16, 20, shift=0), _layer(16, 16, shift=1))


def _embedded(words: tuple[str, ...], width: int) -> torch.Tensor:
    """Words as vectors, (1, T, width): five entries of meaning, then one-hot positions."""
    rows = torch.zeros(1, len(words), width, dtype=torch.float64)
    rows[0, :, :5] = torch.tensor([_MEANING[word] for word in words], dtype=torch.float64)
    rows[0, :, 5 : 5 + len(words)] = torch.eye(len(words), dtype=torch.float64)
    return rows


def _layer(width: int, context: int, shift: int) -> dict[str, torch.Tensor]:
    """Weights of a layer: head 0 matches meanings, head 1 positions.

    width, context: entries of a query's and of a key's vector.
    shift: how many words back head 1 looks.
    """
    weights = {
        f"w_{name}": torch.zeros(width, context if name in "kv" else width) for name in "qkvo"
    }
    scale = 2.8
    for dim in range(5):
        weights["w_q"][dim, dim] = weights["w_k"][dim, dim] = scale
    for place in range(5):
        weights["w_q"][8 + max(place - shift, 0), 5 + place] = scale
        weights["w_k"][8 + place, 5 + place] = scale
        weights["w_v"][place, 5 + place] = weights["w_v"][8 + place, 5 + place] = 1.0
    weights["w_o"] = torch.eye(width)
    biases = {f"b_{name}": torch.zeros(width) for name in "qkvo"}
    return {name: value.double() for name, value in {**weights, **biases}.items()}


def as_json() -> dict[str, Any]:
    """What the page has to know to draw; it computes nothing from this."""
    model = description()
    roles = dict(zip(model["heads"], model["head_role"], strict=True))
    return {
        "lookup": {"words": WORDS, "keys": KEYS, "values": VALUES, "query": QUERY},
        "widths": WIDTHS,
        "sentences": {
            name: {"words": words, "tokens": model["sentences"][name]["tokens"]}
            for name, words in SENTENCES.items()
        },
        "heads": {"A": "meaning", "B": "the word before", **roles},
        "wiring": {"source": SOURCE, "target": TARGET},
        "model": model["model"].split(",")[0],
    }


def frozen() -> dict[str, Any]:
    """All vectors, for a page without a server."""
    heads = {
        f"{name} {sentence}": _vectors(name, sentence)
        for sentence in SENTENCES
        for name in head_names()
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


def _vectors(name: str, sentence: str) -> dict[str, Any]:
    """Queries, keys and values of a head as JSON; those of a trained head as float16."""
    vectors = head(name, sentence)
    parts = {"q": vectors.q, "k": vectors.k, "v": vectors.v}
    if name in ("A", "B"):
        return {part: tensor.tolist() for part, tensor in parts.items()}
    return {part: _float16(tensor) for part, tensor in parts.items()}


def _float16(tensor: torch.Tensor) -> dict[str, Any]:
    """A tensor (T, width) as float16, little endian, in base64."""
    raw = np.ascontiguousarray(tensor.numpy(), "<f2").tobytes()
    return {"f16": base64.b64encode(raw).decode(), "width": tensor.shape[-1]}
