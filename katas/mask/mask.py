"""Kata: mask. No query attends to a later key; then all of attention."""

import torch


def causal_mask(
    t_q: int,
    t_k: int,
    device: torch.device | str | None = None,
) -> torch.Tensor:
    """Which keys each query may attend to: key j for query i when j <= i.

    ->  bool (t_q, t_k) on `device`; True = may attend

    The mask is aligned to the top left corner also when t_q and t_k differ,
    as with `is_causal` of PyTorch.
    """
    raise NotImplementedError("causal_mask is yours to write")


def masked_weights(
    scores: torch.Tensor,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Causal weights: softmax over the keys that a query may attend to.

    scores  (B, H, T_q, T_k), numbers of any size
    keep    bool (B, T_k), True = a real key, False = padding;
            None: all keys are real
    ->      (B, H, T_q, T_k); masked keys get exactly zero, the rest of a
            row sums to one

    A query whose keys are all masked gets a row of zeros, never NaN, and its
    gradients are zero. `scores` is left as it was.
    """
    raise NotImplementedError("masked_weights is yours to write")


def scaled_dot_product_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool = True,
) -> torch.Tensor:
    """Score, scale, mask, softmax, blend: all steps in one function.

    q   (B, H, T_q, d_k)
    k   (B, H, T_k, d_k)   T_k may differ from T_q
    v   (B, H, T_k, d_v)   d_v may differ from d_k
    ->  (B, H, T_q, d_v)   the same as
                F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    You may import what you have written: `from softmax import softmax`.
    """
    raise NotImplementedError("scaled_dot_product_attention is yours")
