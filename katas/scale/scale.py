"""Kata: scale. Divide the scores so that softmax does not saturate."""

import torch


def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Every query times every key, divided by the square root of d_k.

    q   (..., T_q, d_k)  one query per row
    k   (..., T_k, d_k)  one key per row; the leading axes are those of q
    ->  (..., T_q, T_k)  in the dtype and on the device of the inputs

    In half precision nothing may overflow on the way where the result itself
    fits. The inputs are left as they were, and gradients flow back to both.
    """
    raise NotImplementedError("scaled_scores is yours to write")
