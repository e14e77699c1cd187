# row: D17
# outcome: passed
# gives the right mask as an expanded view
import torch


def causal_mask(t_q, t_k, device=None):
    return torch.arange(t_k, device=device).expand(t_q, t_k) <= torch.arange(t_q, device=device)[:, None]


def masked_weights(scores, keep=None):
    allowed = causal_mask(*scores.shape[-2:], device=scores.device).expand(scores.shape)
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~allowed, 0)


def scaled_dot_product_attention(q, k, v, causal=True):
    scores = (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
    weights = masked_weights(scores) if causal else scores.softmax(-1)
    return weights @ v
