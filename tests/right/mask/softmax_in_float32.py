import math

import torch
from torch import nn


def causal_mask(t_q, t_k, device=None):
    return torch.tril(torch.ones((t_q, t_k), device=device)).bool()


def _eager(scores, allowed):
    lowest = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(~allowed, lowest)
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(scores.dtype)
    return torch.where(allowed.any(-1, keepdim=True), weights, torch.zeros_like(weights))


def masked_weights(scores, keep=None):
    allowed = causal_mask(scores.shape[-2], scores.shape[-1], scores.device)[None, None]
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    return _eager(scores, allowed)


def scaled_dot_product_attention(q, k, v, causal=True):
    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1])
    if not causal:
        weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        return torch.matmul(weights, v)
    return torch.matmul(_eager(scores, causal_mask(q.size(2), k.size(2), q.device)), v)
