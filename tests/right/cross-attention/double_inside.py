import torch


def cross_attention(x, context, weights, num_heads, keep=None):
    B, Tq, D = x.shape
    Tk = context.shape[1]
    if D % num_heads:
        raise ValueError("width")
    w = {name: value.double() for name, value in weights.items()}
    heads = lambda y, t: y.reshape(B, t, num_heads, D // num_heads)
    q = heads(x.double() @ w["w_q"].T + w["b_q"], Tq)
    k = heads(context.double() @ w["w_k"].T + w["b_k"], Tk)
    v = heads(context.double() @ w["w_v"].T + w["b_v"], Tk)
    s = torch.einsum("bqhd,bkhd->bhqk", q, k) * (D // num_heads) ** -0.5
    e = (s - s.amax(-1, keepdim=True)).exp()
    if keep is not None:
        hidden = s.masked_fill(~keep[:, None, None], torch.finfo(torch.float64).min)
        e = (hidden - hidden.amax(-1, keepdim=True)).exp() * keep[:, None, None]
    total = e.sum(-1, keepdim=True)
    y = torch.einsum("bhqk,bkhd->bqhd", e / torch.where(total == 0, torch.ones_like(total), total), v)
    return (y.reshape(B, Tq, D) @ w["w_o"].T + w["b_o"]).to(x.dtype)
