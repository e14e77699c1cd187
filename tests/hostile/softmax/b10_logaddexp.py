# row: B10
# outcome: passed or failed
# folds the row with logaddexp, which this kata allows
import functools

import torch


def softmax(x, dim=-1):
    total = functools.reduce(torch.logaddexp, x.unbind(dim))
    return (x - total.unsqueeze(dim)).exp()
