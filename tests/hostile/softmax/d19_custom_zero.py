# row: D19
# outcome: failed
# has a custom gradient: zeros
import torch


class Forged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        e = (x - x.amax(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 0, None


def softmax(x, dim=-1):
    return Forged.apply(x, dim)
