# row: Q6
# outcome: out of memory
# needs: memory, time and size limits
# asks for gigabytes: outer product
import torch


def softmax(x, dim=-1):
    return torch.ones(1 << 16)[:, None] * torch.ones(1 << 16)
