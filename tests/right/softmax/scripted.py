import torch


@torch.jit.script
def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    e = torch.exp(x - torch.amax(x, [dim], True))
    return e / e.sum(dim, keepdim=True)
