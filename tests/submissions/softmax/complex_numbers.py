# outcome: failed
# rung: dtype
# says: torch.complex32 came back
import torch


def softmax(x, dim=-1):
    return x.detach().to(torch.complex32)
