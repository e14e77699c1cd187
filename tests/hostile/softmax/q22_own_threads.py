# row: Q22
# outcome: passed
# has torch use four threads
import torch

torch.set_num_threads(4)


def softmax(x, dim=-1):
    torch.ones(1 << 16).exp()
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
