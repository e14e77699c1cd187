"""Reference: cross-attention.

Encoder-decoder attention: Vaswani et al. 2017, arXiv:1706.03762, section
3.2.3. B batch, T_q positions of x, T_k positions of the context, H heads.
"""

import torch

Weights = dict[str, torch.Tensor]


def cross_attention(
    x: torch.Tensor,
    context: torch.Tensor,
    weights: Weights,
    num_heads: int,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Queries from x (B, T_q, D), keys and values from context.

    The context has shape (B, T_k, D_c); returns (B, T_q, D).

    Weights in nn.Linear layout: w_q, w_o (D, D), w_k, w_v (D, D_c), biases
    (D,). keep: bool (B, T_k), True = a real position.
    Raises ValueError when num_heads does not divide D.
    """
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
    """(B, T, D) to (B, H, T, D/H)."""
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(
            f"a width of {width} cannot be shared by {num_heads} heads"
        )
    return x.reshape(
        batch, length, num_heads, width // num_heads
    ).transpose(1, 2)
