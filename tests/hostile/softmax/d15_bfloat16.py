# row: D15
# outcome: failed
# answers in torch.bfloat16
import torch


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).to(torch.bfloat16)
