# row: D17
# outcome: passed
# gives the right answer with its sign in a flag: strange, and right
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    y = e / e.sum(dim, keepdim=True)
    return torch._neg_view(-y)
