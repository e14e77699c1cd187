"""Reference: scale.

The 1/sqrt(d_k) of Vaswani et al. 2017, arXiv:1706.03762, equation 1.
"""

import torch


def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Scores (..., T_q, T_k) of q (..., T_q, d_k) and k (..., T_k, d_k).

    q is scaled before the product, so that half precision does not overflow
    where the scores fit.
    """
    return (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
