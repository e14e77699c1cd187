import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    wide = x.float()
    e = torch.exp(wide - wide.max(dim=dim, keepdim=True).values)
    return (e / e.sum(dim=dim, keepdim=True)).to(x.dtype)
