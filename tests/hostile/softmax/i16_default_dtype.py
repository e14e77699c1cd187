# row: I16
# outcome: passed
# sets the default dtype to half
import torch

torch.set_default_dtype(torch.float16)


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
