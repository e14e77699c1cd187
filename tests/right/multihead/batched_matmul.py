import torch


def split_heads(x, num_heads):
    b, t, d = x.shape
    if d % num_heads:
        raise ValueError(f"{d} / {num_heads}")
    return torch.stack([x[..., h * (d // num_heads) : (h + 1) * (d // num_heads)] for h in range(num_heads)], 1)


def merge_heads(x):
    return torch.cat(tuple(x[:, h] for h in range(x.shape[1])), dim=-1)


def multi_head_attention(x, weights, num_heads, causal=False, keep=None):
    b, t, d = x.shape
    if d % num_heads:
        raise ValueError("no")
    size = d // num_heads
    flat = lambda y: split_heads(y, num_heads).reshape(b * num_heads, t, size)
    q = flat(torch.einsum("btd,ed->bte", x, weights["w_q"]) + weights["b_q"])
    k = flat(torch.einsum("btd,ed->bte", x, weights["w_k"]) + weights["b_k"])
    v = flat(torch.einsum("btd,ed->bte", x, weights["w_v"]) + weights["b_v"])
    s = torch.bmm(q, k.transpose(1, 2)) * size**-0.5
    ok = torch.ones(t, t, dtype=torch.bool, device=x.device)
    ok = ok.tril() if causal else ok
    ok = ok.expand(b, t, t) if keep is None else ok & keep[:, None, :]
    ok = ok.repeat_interleave(num_heads, 0)
    some = ok.any(-1, keepdim=True)
    w = s.masked_fill(~ok & some, float("-inf")).softmax(-1).masked_fill(~some, 0)
    y = torch.bmm(w, v).view(b, num_heads, t, size)
    return merge_heads(y) @ weights["w_o"].t() + weights["b_o"]
