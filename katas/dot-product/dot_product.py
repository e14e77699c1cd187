"""Kata: dot product. Score every query against every key."""

import torch


def attention_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The dot product of every query with every key.

    q   (..., T_q, d_k)  one query per row
    k   (..., T_k, d_k)  one key per row; the leading axes are those of q
    ->  (..., T_q, T_k)  entry [i, j] says how well key j answers query i

    The result keeps the dtype and device of the inputs. The inputs are left
    as they were, and gradients flow back to both.
    """
    raise NotImplementedError("attention_scores is yours to write")
