# outcome: failed
# rung: nothing banned
import torch


def softmax(x, dim=-1):
    return torch.ops.aten._softmax(x, dim, False)
