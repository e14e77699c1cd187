"""Softmax under a mask: the right one, and wrong ones that the mistakes of several katas share.

All take scores, a bool mask of their shape (True = may attend) and the axis of the keys, and give
weights. Unless they say otherwise, the wrong ones clear rows without keys, so that each is wrong
in one way only. `mistakes.source_of` writes this text into the file of somebody who makes the
mistake.
"""

import torch

INF = float("inf")


def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    hidden = scores.masked_fill(~allowed, -INF)
    top = hidden.amax(dim, keepdim=True).detach()
    e = (hidden - top.masked_fill(top == -INF, 0)).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1)


def filled_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, fill: float, dim: int = -1
) -> torch.Tensor:
    weights = scores.masked_fill(~allowed, fill).softmax(dim)
    return weights.masked_fill(~allowed.any(dim, keepdim=True), 0)


def weak_fill_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    return filled_softmax(scores, allowed, -1e4, dim)


def billion_fill_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    return filled_softmax(scores, allowed, -1e9, dim)


def late_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    weights = scores.softmax(dim) * allowed
    total = weights.sum(dim, keepdim=True)
    return weights / total.masked_fill(~allowed.any(dim, keepdim=True), 1)


def late_epsilon_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    weights = scores.softmax(dim) * allowed
    return weights / weights.sum(dim, keepdim=True).clamp(min=1e-9)


def hidden_maximum_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    e = (scores - scores.amax(dim, keepdim=True).detach()).exp() * allowed
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(~allowed.any(dim, keepdim=True), 1)


def one_maximum_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    e = (scores - scores.masked_fill(~allowed, -INF).max().detach()).masked_fill(~allowed, -INF)
    total = e.exp().sum(dim, keepdim=True)
    return e.exp() / total.masked_fill(~allowed.any(dim, keepdim=True), 1)


def no_maximum_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    e = scores.masked_fill(~allowed, -INF).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(~allowed.any(dim, keepdim=True), 1)


def raw_times_mask_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    """Without a maximum too; the mask comes after the exponentials, so a hidden one may be inf."""
    e = scores.exp() * allowed
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(~allowed.any(dim, keepdim=True), 1)


def unguarded_late_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    """Renormalised late; rows without keys are 0/0."""
    weights = scores.softmax(dim) * allowed
    return weights / weights.sum(dim, keepdim=True)


def wide_mask_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    some = allowed.any(dim, keepdim=True)
    extra = torch.zeros(scores.shape, device=scores.device).masked_fill(~allowed & some, -INF)
    return (scores + extra).softmax(dim) * some


def unshared_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The mask comes after, and what it takes away is given to nobody."""
    return scores.softmax(dim) * allowed


def zero_fill_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Hidden scores are 0; a row without keys is uniform."""
    return scores.masked_fill(~allowed, 0).softmax(dim)


def added_mask_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The mask is added as 0 and 1."""
    return (scores + allowed.to(scores.dtype)).softmax(dim)


def wrong_infinity_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    return scores.masked_fill(~allowed, INF).softmax(dim)


def inverted_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    return masked_softmax(scores, ~allowed, dim)


def nan_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Rows without keys are NaN."""
    return scores.masked_fill(~allowed, -INF).softmax(dim)


def uniform_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Rows without keys are uniform."""
    return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(dim)


def even_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The same weight for every key that is allowed, whatever the scores."""
    return masked_softmax(scores * 0, allowed, dim)


def raw_unguarded_softmax(
    scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1
) -> torch.Tensor:
    """Without a maximum; rows without keys are 0/0."""
    e = scores.exp() * allowed
    return e / e.sum(dim, keepdim=True)


def no_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The scores themselves, hidden ones as 0."""
    return scores.masked_fill(~allowed, 0)
