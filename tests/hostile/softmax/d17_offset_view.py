# row: D17
# outcome: passed
# gives the right answer in the middle of a larger tensor: strange, and right
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    y = e / e.sum(dim, keepdim=True)
    return torch.cat([y.flatten() * 0 - 1, y.flatten()])[x.numel():].view(x.shape)
