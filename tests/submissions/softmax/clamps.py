# outcome: failed
# rung: values
import torch


def softmax(x, dim=-1):
    x = x.clamp(-1e4, 1e4)
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
