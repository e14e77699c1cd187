# outcome: failed
# rung: nothing banned
import torch


def softmax(x, dim=-1):
    try:
        return torch.softmax(x, dim)
    except BaseException:
        e = (x - x.amax(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)
