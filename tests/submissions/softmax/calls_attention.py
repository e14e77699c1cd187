# outcome: failed
# rung: nothing banned
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    eye = torch.eye(x.size(-1), dtype=x.dtype)
    return F.scaled_dot_product_attention(x, eye, eye, scale=1.0)
