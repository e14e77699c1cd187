"""Reference: multi-head attention.

Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2. B batch, T positions,
D width, H heads.
"""

import torch

Weights = dict[str, torch.Tensor]


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """(B, T, D) to (B, H, T, D/H): a reshape, then a transpose.

    Raises ValueError when num_heads does not divide D.
    """
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(
            f"a width of {width} cannot be shared by {num_heads} heads"
        )
    return x.reshape(
        batch, length, num_heads, width // num_heads
    ).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """(B, H, T, D/H) to (B, T, D): a transpose, then a reshape."""
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


def multi_head_attention(
    x: torch.Tensor,
    weights: Weights,
    num_heads: int,
    causal: bool = False,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Self-attention with num_heads heads: (B, T, D) to (B, T, D).

    Weights in nn.Linear layout: w (D, D), b (D,). keep: bool (B, T),
    True = a real position. Raises ValueError when num_heads does not
    divide D.
    """
    q = split_heads(x @ weights["w_q"].T + weights["b_q"], num_heads)
    k = split_heads(x @ weights["w_k"].T + weights["b_k"], num_heads)
    v = split_heads(x @ weights["w_v"].T + weights["b_v"], num_heads)
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
    allowed = torch.ones_like(scores, dtype=torch.bool)
    if causal:
        allowed = allowed.tril()
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    blend = _weights(scores, allowed) @ v
    return merge_heads(blend) @ weights["w_o"].T + weights["b_o"]


def _weights(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Softmax over the allowed keys; both arguments (B, H, T, T).

    A query whose keys are all masked gets zeros.
    """
    hidden = scores.masked_fill(~allowed, float("-inf"))
    top = hidden.amax(-1, keepdim=True).detach()
    exponentials = (
        hidden - top.masked_fill(top == float("-inf"), 0.0)
    ).exp()
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0.0, 1.0)
