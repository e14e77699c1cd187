# sibling: mask/on_my_own_softmax
# sibling: softmax/log_space
import torch
from torch.nn.functional import linear

from mask import masked_weights
from softmax import softmax


def split_heads(x, num_heads):
    B, T, D = x.shape
    if D % num_heads != 0:
        raise ValueError("D must be divisible by num_heads")
    return x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3) if x.is_contiguous() else (
        x.unflatten(-1, (num_heads, D // num_heads)).permute(0, 2, 1, 3)
    )


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(-2)


def multi_head_attention(x, weights, num_heads, causal=False, keep=None):
    q = split_heads(linear(x, weights["w_q"], weights["b_q"]), num_heads)
    k = split_heads(linear(x, weights["w_k"], weights["b_k"]), num_heads)
    v = split_heads(linear(x, weights["w_v"], weights["b_v"]), num_heads)
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5)
    if causal:
        attn = masked_weights(scores, keep)
    elif keep is None:
        attn = softmax(scores)
    else:
        pad = keep[:, None, None, :].expand_as(scores)
        some = pad.any(-1, keepdim=True)
        attn = softmax(scores.masked_fill(~pad & some, float("-inf"))) * some
    return linear(merge_heads(attn @ v), weights["w_o"], weights["b_o"])
