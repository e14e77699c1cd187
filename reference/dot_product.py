"""Reference: dot product.

The Q K^T of Vaswani et al. 2017, arXiv:1706.03762, equation 1.
"""

import torch


def attention_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Scores (..., T_q, T_k) of q (..., T_q, d_k) and k (..., T_k, d_k).

    Only the last two axes of k are swapped.
    """
    return q @ k.transpose(-2, -1)
