"""Softmax under a mask: the right one, and wrong ones that the mistakes of several katas share.

All take scores and a bool mask of their shape (True = may attend) and give weights; every wrong one
clears rows without keys, so that it is wrong in one way only. `mistakes.source_of` writes this text
into the file of somebody who makes the mistake.
"""

import torch

INF = float("inf")


def masked_softmax(scores: torch.Tensor, allowed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    hidden = scores.masked_fill(~allowed, -INF)
    top = hidden.amax(dim, keepdim=True).detach()
    e = (hidden - top.masked_fill(top == -INF, 0)).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1)


def filled_softmax(scores: torch.Tensor, allowed: torch.Tensor, fill: float) -> torch.Tensor:
    weights = scores.masked_fill(~allowed, fill).softmax(-1)
    return weights.masked_fill(~allowed.any(-1, keepdim=True), 0)


def weak_fill_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    return filled_softmax(scores, allowed, -1e4)


def billion_fill_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    return filled_softmax(scores, allowed, -1e9)


def late_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    weights = scores.softmax(-1) * allowed
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(~allowed.any(-1, keepdim=True), 1)


def late_epsilon_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    weights = scores.softmax(-1) * allowed
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)


def hidden_maximum_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    e = (scores - scores.amax(-1, keepdim=True).detach()).exp() * allowed
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(~allowed.any(-1, keepdim=True), 1)


def one_maximum_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    e = (scores - scores.masked_fill(~allowed, -INF).max().detach()).masked_fill(~allowed, -INF)
    total = e.exp().sum(-1, keepdim=True)
    return e.exp() / total.masked_fill(~allowed.any(-1, keepdim=True), 1)


def wide_mask_softmax(scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    some = allowed.any(-1, keepdim=True)
    extra = torch.zeros(scores.shape, device=scores.device).masked_fill(~allowed & some, -INF)
    return (scores + extra).softmax(-1) * some
