# row: I13
# outcome: passed or failed
# is decorated with lru_cache
import functools


@functools.lru_cache(None)
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
