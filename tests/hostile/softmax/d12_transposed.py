# row: D12
# outcome: failed
# answers the right numbers transposed
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).mT if x.dim() > 1 else x
