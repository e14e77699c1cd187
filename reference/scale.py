"""Reference: scale."""

import torch


def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Scaled before the product, so that it fits where the result does."""
    return (q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)
