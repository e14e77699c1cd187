"""Reference: softmax."""

import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Shift by the largest entry along `dim`: no exponent is above 0."""
    shifted = x - x.amax(dim, keepdim=True).detach()
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)
