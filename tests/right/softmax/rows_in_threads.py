import torch
from concurrent.futures import ThreadPoolExecutor
def one(r):
    e = (r - r.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
def softmax(x, dim=-1):
    y = x.movedim(dim, -1)
    if y.dim() == 1: return one(y)
    with ThreadPoolExecutor(4) as p:
        rows = list(p.map(one, y.unbind(0)))
    return torch.stack(rows).movedim(-1, dim)
