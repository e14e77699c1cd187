# row: D10
# outcome: failed
# answers infinity
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True) * float('inf')
