# row: D3
# outcome: failed
# computes the first call only and gives views of one buffer afterwards
import torch

buffer = torch.zeros(1 << 12, dtype=torch.float64)
calls = []


def softmax(x, dim=-1):
    calls.append(x)
    e = (x - x.amax(dim, keepdim=True)).exp()
    view = buffer[: x.numel()].view(x.shape)
    view.copy_((e / e.sum(dim, keepdim=True)).detach())
    return view.to(x.dtype)
