"""Reference: mask and attention.

Scaled dot-product attention: Vaswani et al. 2017, arXiv:1706.03762, section
3.2.1. The mask follows torch.nn.functional.scaled_dot_product_attention:
True = may attend, and `is_causal` aligns it to the top left corner.
"""

import torch


def causal_mask(
    t_q: int, t_k: int, device: torch.device | str | None = None
) -> torch.Tensor:
    """Mask of shape (t_q, t_k): True where key j <= query i."""
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()


def masked_weights(
    scores: torch.Tensor, keep: torch.Tensor | None = None
) -> torch.Tensor:
    """Causal weights (B, H, T_q, T_k) of scores (B, H, T_q, T_k).

    keep: bool (B, T_k), True = a real key. Causal mask and keep both
    have to allow a key. A query whose keys are all masked gets zeros.
    """
    allowed = causal_mask(scores.size(-2), scores.size(-1), scores.device)
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    return _weights(scores, allowed)


def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = True
) -> torch.Tensor:
    """softmax(q k^T / sqrt(d_k)) v, with a causal mask if `causal`.

    q (B, H, T_q, d_k), k (B, H, T_k, d_k), v (B, H, T_k, d_v) give
    (B, H, T_q, d_v). q is scaled before the product, so that half precision
    does not overflow where the scores fit.
    """
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
    if causal:
        allowed = causal_mask(
            scores.size(-2), scores.size(-1), scores.device
        )
    else:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    return _weights(scores, allowed) @ v


def _weights(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Softmax over the allowed keys; both arguments (B, H, T_q, T_k).

    A row whose keys are all masked has maximum -inf and sum 0: 0 and 1
    replace them, so the row is zeros and its gradients are finite.
    """
    hidden = scores.masked_fill(~allowed, float("-inf"))
    top = hidden.amax(-1, keepdim=True).detach()
    exponentials = (
        hidden - top.masked_fill(top == float("-inf"), 0.0)
    ).exp()
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0.0, 1.0)
