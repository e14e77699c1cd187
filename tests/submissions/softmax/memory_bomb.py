# outcome: out of memory
import torch


def softmax(x, dim=-1):
    return torch.zeros(1 << 34)
