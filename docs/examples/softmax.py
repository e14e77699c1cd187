import torch


def softmax(x, dim=-1):
    e = torch.exp(x)
    return e / e.sum(dim, keepdim=True)
