"""Reference: mask."""

import torch


def causal_mask(
    t_q: int, t_k: int, device: torch.device | str | None = None
) -> torch.Tensor:
    """True on and below the diagonal that starts in the top left corner."""
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()


def masked_weights(
    scores: torch.Tensor, keep: torch.Tensor | None = None
) -> torch.Tensor:
    """Both rules have to allow a key; a query without one gets zeros."""
    allowed = causal_mask(scores.size(-2), scores.size(-1), scores.device)
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    return _weights(scores, allowed)


def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = True
) -> torch.Tensor:
    """Score, scale, mask, softmax, blend."""
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
    if causal:
        allowed = causal_mask(
            scores.size(-2), scores.size(-1), scores.device
        )
    else:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    return _weights(scores, allowed) @ v


def _weights(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Softmax over the allowed keys; a row without one divides by one."""
    hidden = scores.masked_fill(~allowed, float("-inf"))
    top = hidden.amax(-1, keepdim=True).detach()
    exponentials = (
        hidden - top.masked_fill(top == float("-inf"), 0.0)
    ).exp()
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0.0, 1.0)
