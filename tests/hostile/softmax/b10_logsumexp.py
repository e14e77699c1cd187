# row: B10
# outcome: passed
# subtracts torch.logsumexp, which this kata allows
import torch


def softmax(x, dim=-1):
    return (x - torch.logsumexp(x, dim, keepdim=True)).exp()
