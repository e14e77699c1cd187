# sibling: softmax/log_space
import torch

from softmax import softmax


def causal_mask(t_q, t_k, device=None):
    return ~torch.triu(torch.ones((t_q, t_k), device=device, dtype=torch.bool), diagonal=1)


def masked_weights(scores, keep=None):
    mask = causal_mask(scores.shape[-2], scores.shape[-1], scores.device)[None, None]
    if keep is not None:
        mask = mask & keep.unsqueeze(1).unsqueeze(1)
    mask = mask.expand_as(scores)
    dead = ~mask.any(dim=-1, keepdim=True)
    filled = scores.masked_fill(~(mask | dead), float("-inf"))
    return softmax(filled, dim=-1).masked_fill(dead, 0.0)


def scaled_dot_product_attention(q, k, v, causal=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
    if causal:
        return masked_weights(scores) @ v
    return softmax(scores) @ v
