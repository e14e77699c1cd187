# sibling: multihead/batched_matmul
import math

import torch
import torch.nn.functional as F

from multihead import merge_heads, split_heads


def cross_attention(x, context, weights, num_heads, keep=None):
    q = split_heads(F.linear(x, weights["w_q"], weights["b_q"]), num_heads)
    k = split_heads(F.linear(context, weights["w_k"], weights["b_k"]), num_heads)
    v = split_heads(F.linear(context, weights["w_v"], weights["b_v"]), num_heads)
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if keep is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~keep[:, None, None, :], -math.inf)
        dead = ~keep.any(-1)[:, None, None, None]
        weights_ = torch.softmax(scores.masked_fill(dead, 0.0), -1) * ~dead
    else:
        weights_ = torch.softmax(scores, -1)
    return F.linear(merge_heads(weights_ @ v), weights["w_o"], weights["b_o"])
