# row: B11
# outcome: failed or timed out or broken
# calls PyTorch's own recipe in Python
import torch
import torch._refs


def softmax(x, dim=-1):
    return torch._refs.softmax(x, dim)
