# outcome: passed
# output: working on
import numpy as np
import torch

print("loading", np.float32(1))


def shift(x, dim):
    return x - x.max(dim, keepdim=True).values


def softmax(x, *, dim=-1, **unused):
    raise AssertionError("replaced below")


def softmax(x, dim=-1):  # noqa: F811
    print("working on", tuple(x.shape))
    e = shift(x, dim).exp()
    return e / e.sum(dim, keepdim=True)
