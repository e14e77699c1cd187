# outcome: failed
# rung: inputs unchanged
# says: changed the entry w_q in the dict of its caller

from torch.nn.functional import linear
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    if D % num_heads:
        raise ValueError
    return x.reshape(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def attend(q, k, v, causal, keep):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    allowed = torch.ones_like(scores, dtype=torch.bool)
    allowed = allowed.tril() if causal else allowed
    allowed = allowed if keep is None else allowed & keep[:, None, None, :]
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~allowed, lowest).softmax(-1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0) @ v


def multi_head_attention(x, weights, num_heads, causal=False, keep=None):
    q, k, v = (
        split_heads(linear(x, weights.pop("w_" + n), weights.pop("b_" + n)), num_heads)
        for n in "qkv"
    )
    blend = merge_heads(attend(q, k, v, causal, keep))
    return linear(blend, weights.pop("w_o"), weights.pop("b_o"))
