# outcome: failed
# rung: type
# says: cannot be compared
import torch


def softmax(x, dim=-1):
    return x.detach().to(torch.complex32)
