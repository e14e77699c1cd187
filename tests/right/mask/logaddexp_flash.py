import math

import torch


def causal_mask(t_q, t_k, device=None):
    rows = torch.arange(t_q, device=device).view(-1, 1)
    cols = torch.arange(t_k, device=device).view(1, -1)
    return cols <= rows


def masked_weights(scores, keep=None):
    allowed = causal_mask(scores.size(-2), scores.size(-1), device=scores.device)
    if keep is not None:
        allowed = torch.logical_and(allowed, keep[:, None, None])
    allowed = allowed.expand(scores.shape)
    lowest = torch.finfo(scores.dtype).min
    filled = torch.where(allowed, scores, torch.tensor(lowest, dtype=scores.dtype, device=scores.device))
    e = torch.exp(filled - filled.max(-1, keepdim=True).values) * allowed
    return e / e.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def scaled_dot_product_attention(q, k, v, causal=True):
    outs = []
    for i in range(q.size(-2)):
        seen = min(i + 1, k.size(-2)) if causal else k.size(-2)
        s = (q[..., i : i + 1, :] * k[..., :seen, :]).sum(-1) / math.sqrt(q.size(-1))
        outs.append((torch.softmax(s, -1).unsqueeze(-1) * v[..., :seen, :]).sum(-2))
    return torch.stack(outs, dim=-2)
