"""Kata: softmax. Turn scores into weights that sum to one."""

import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Exponentials of `x`, divided by their sum along `dim`.

    x    any shape with at least one axis, floating point
    dim  the axis along which the weights sum to one
    ->   the same shape, dtype and device as `x`

    Finite for every finite input, however large or small. An entry that is
    -inf, beside finite ones, gets weight zero exactly. `x` is left as it was,
    and gradients flow back to it.
    """
    raise NotImplementedError("softmax is yours to write")
