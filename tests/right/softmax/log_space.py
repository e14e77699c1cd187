import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    return x.sub(x.logsumexp(dim=dim, keepdim=True)).exp()
