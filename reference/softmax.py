"""Reference: stable softmax.

The shift by the maximum changes nothing and prevents overflow: Blanchard,
Higham and Higham 2021, "Accurately computing the log-sum-exp and softmax
functions", IMA Journal of Numerical Analysis 41(4).
"""

import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Weights of the same shape as x that sum to one along `dim`.

    Each slice is shifted by its largest entry, so no exponent is above 0.
    """
    shifted = x - x.amax(dim, keepdim=True).detach()
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)
