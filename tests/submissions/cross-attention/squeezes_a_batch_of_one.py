# outcome: failed
import torch


def cross_attention(x, context, weights, num_heads, keep=None):
    B, T, D = x.shape
    if D % num_heads:
        raise ValueError(f"{num_heads} heads cannot share {D}")
    q = (x @ weights["w_q"].T + weights["b_q"]).view(B, T, num_heads, -1).transpose(1, 2) if (
        x.is_contiguous()
    ) else (x @ weights["w_q"].T + weights["b_q"]).unflatten(-1, (num_heads, -1)).transpose(1, 2)
    k = (context @ weights["w_k"].T + weights["b_k"]).unflatten(-1, (num_heads, -1))
    v = (context @ weights["w_v"].T + weights["b_v"]).unflatten(-1, (num_heads, -1))
    scores = q @ k.permute(0, 2, 3, 1) / (D // num_heads) ** 0.5
    if keep is not None:
        scores = scores.masked_fill(~keep[:, None, None, :], torch.finfo(x.dtype).min)
    weight = scores.softmax(-1)
    if keep is not None:
        weight = weight * keep.any(-1)[:, None, None, None]
    out = (weight @ v.transpose(1, 2)).transpose(1, 2).flatten(2)
    return (out @ weights["w_o"].T + weights["b_o"]).squeeze()
