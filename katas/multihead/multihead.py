"""Kata: multihead. Several heads at the cost of one."""

import torch


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Give each head its slice of the width.

    x   (B, T, D)
    ->  (B, H, T, D/H)   head h gets entries h * D/H up to (h+1) * D/H

    Raises ValueError when num_heads does not divide D.
    """
    raise NotImplementedError("split_heads is yours to write")


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Undo split_heads: concatenate the slices of all heads.

    x   (B, H, T, D/H)
    ->  (B, T, D)
    """
    raise NotImplementedError("merge_heads is yours to write")


def multi_head_attention(
    x: torch.Tensor,
    weights: dict[str, torch.Tensor],
    num_heads: int,
    causal: bool = False,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Self-attention of x with num_heads heads.

    x        (B, T, D)
    weights  w_q b_q w_k b_k w_v b_v w_o b_o, laid out as in nn.Linear:
             w (D, D), b (D,), so a projection is x @ w.T + b
    causal   no position attends to a later one
    keep     bool (B, T), True = a real position, False = padding;
             None: all are real
    ->       (B, T, D), the same as nn.MultiheadAttention with these weights

    A query whose keys are all masked gets a blend of zeros, and so b_o.
    Raises ValueError when num_heads does not divide D.

    You may import what you have written: `from softmax import softmax`.
    """
    raise NotImplementedError("multi_head_attention is yours to write")
