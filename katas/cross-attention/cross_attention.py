"""Kata: cross-attention. Queries from one sequence, keys and values from another."""

import torch


def cross_attention(
    x: torch.Tensor,
    context: torch.Tensor,
    weights: dict[str, torch.Tensor],
    num_heads: int,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention with queries from x, keys and values from context.

    x        (B, T_q, D)     the queries come from here
    context  (B, T_k, D_c)   keys and values: another length, another width
    weights  w_q, w_o (D, D); w_k, w_v (D, D_c); b_q b_k b_v b_o (D,),
             laid out as in nn.Linear
    keep     bool (B, T_k), True = a real position of the context;
             None: all are real
    ->       (B, T_q, D)

    There is no causal mask: every query may attend to all of the context. A
    query whose keys are all masked gets a blend of zeros, and so b_o. Raises ValueError
    when num_heads does not divide D.

    You may import what you have written:
    `from multihead import split_heads, merge_heads`.
    """
    raise NotImplementedError("cross_attention is yours to write")
