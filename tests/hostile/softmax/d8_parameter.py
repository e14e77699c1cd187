# row: D8
# outcome: failed
# answers a parameter: a plain tensor, but a leaf that no gradient passes
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return torch.nn.Parameter((e / e.sum(dim, keepdim=True)).detach())
