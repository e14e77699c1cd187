# row: I8
# outcome: passed or broken
# imports everything from itself
from softmax import *  # noqa: F403


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
