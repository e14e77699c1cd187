# row: I18
# outcome: passed
# switches the collector off, with a threshold of one before
import gc

gc.set_threshold(1)
gc.disable()
gc.unfreeze()


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
