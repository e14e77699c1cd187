import torch
from torch import tensor


def softmax(x, dim=-1):
    one = tensor([1.0], dtype=x.dtype, device=x.device)
    e = torch.exp(x - x.amax(dim, keepdim=True)) * one
    return e / e.sum(dim, keepdim=True)
