# row: D12
# outcome: failed
# answers the right numbers in one row
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).flatten()
