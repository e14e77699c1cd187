# row: D17
# outcome: passed
# gives the right answer turned over twice: strange, and right
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    y = e / e.sum(dim, keepdim=True)
    return y.flip(dim).flip(dim)
