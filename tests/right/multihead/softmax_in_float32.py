import torch
from torch import nn


class HeadsDoNotFit(ValueError):
    pass


def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise HeadsDoNotFit(f"{num_heads} heads cannot share {width}")
    return x.view(batch, length, num_heads, -1).transpose(1, 2) if x.is_contiguous() else (
        x.contiguous().view(batch, length, num_heads, -1).transpose(1, 2)
    )


def merge_heads(x):
    batch, _, length, _ = x.shape
    return x.transpose(1, 2).contiguous().view(batch, length, -1)


def multi_head_attention(x, weights, num_heads, causal=False, keep=None):
    linear = nn.functional.linear
    q, k, v = (
        split_heads(linear(x, weights[f"w_{n}"], weights[f"b_{n}"]), num_heads) for n in "qkv"
    )
    scores = torch.matmul(q, k.transpose(2, 3)) * q.shape[-1] ** -0.5
    hidden = torch.zeros(scores.shape, dtype=torch.bool, device=x.device)
    if causal:
        rows = torch.arange(x.size(1), device=x.device)
        hidden = hidden | (rows[None, :] > rows[:, None])
    if keep is not None:
        hidden = hidden | ~keep[:, None, None, :]
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    attention = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)
    attention = attention.masked_fill(hidden.all(-1, keepdim=True), 0.0)
    return linear(merge_heads(torch.matmul(attention, v)), weights["w_o"], weights["b_o"])
