"""Kata: mask. No word sees the future; then all of attention at once."""

import torch


def causal_mask(
    t_q: int,
    t_k: int,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """Which keys each query may attend to: key j for query i when j <= i.

    ->  bool (t_q, t_k) on `device`; True = may attend

    The corner is the top left one also when t_q and t_k differ, as in
    PyTorch's `is_causal`.
    """
    raise NotImplementedError("causal_mask is yours to write")


def masked_weights(
    scores: torch.Tensor,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Causal weights: softmax over the keys that a query may attend to.

    scores  (B, H, T_q, T_k), any size of numbers
    keep    bool (B, T_k), True = a real key, False = padding;
            None: all keys are real
    ->      (B, H, T_q, T_k); hidden keys get exactly zero, the rest of a
            row sums to one

    A query with no key to attend to gets a row of zeros, never NaN, and its
    gradients are zero. `scores` is left as it was.
    """
    raise NotImplementedError("masked_weights is yours to write")


def scaled_dot_product_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = True,
) -> torch.Tensor:
    """Score, scale, mask, softmax, blend: everything so far in one.

    q   (B, H, T_q, d_k)
    k   (B, H, T_k, d_k)   T_k may differ from T_q
    v   (B, H, T_k, d_v)   d_v may differ from d_k
    ->  (B, H, T_q, d_v)   the same as
                F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    You may import what you have written: `from softmax import softmax`.
    """
    raise NotImplementedError("scaled_dot_product_attention is yours")
