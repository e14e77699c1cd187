# outcome: failed
# rung: dtype
# says: torch.float32 came back, expected torch.float64
import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return (e / e.sum(dim, keepdim=True)).to(torch.float32)
