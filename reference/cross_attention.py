"""Reference: cross-attention."""

import torch

Weights = dict[str, torch.Tensor]


def cross_attention(
    x: torch.Tensor,
    context: torch.Tensor,
    weights: Weights,
    num_heads: int,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Queries from x, keys and values from the context."""
    q = _split(x @ weights["w_q"].T + weights["b_q"], num_heads)
    k = _split(context @ weights["w_k"].T + weights["b_k"], num_heads)
    v = _split(context @ weights["w_v"].T + weights["b_v"], num_heads)
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
    if keep is not None:
        scores = scores.masked_fill(~keep[:, None, None, :], float("-inf"))
    top = scores.amax(-1, keepdim=True).detach()
    exponentials = (
        scores - top.masked_fill(top == float("-inf"), 0.0)
    ).exp()
    total = exponentials.sum(-1, keepdim=True)
    blend = exponentials / total.masked_fill(total == 0.0, 1.0) @ v
    return (
        blend.transpose(1, 2).flatten(2) @ weights["w_o"].T + weights["b_o"]
    )


def _split(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(
            f"a width of {width} cannot be shared by {num_heads} heads"
        )
    return x.reshape(
        batch, length, num_heads, width // num_heads
    ).transpose(1, 2)
