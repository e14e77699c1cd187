# row: B4
# outcome: failed
# calls it when an object is collected
import torch


def softmax(x, dim=-1):
    found = []
    thing = type('Thing', (), {'__del__': lambda self: found.append(torch.softmax(x, dim))})()
    del thing
    return found[0]
