# row: F1
# outcome: passed
# needs: read-only files
# saves an array to a file
import numpy as np


def attempt():
    np.save("/tmp/attention-katas-was-here", np.ones(1))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: numpy_save")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
