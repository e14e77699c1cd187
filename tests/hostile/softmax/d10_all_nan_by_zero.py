# row: D10
# outcome: failed
# answers NaN everywhere
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e * 0) / 0
