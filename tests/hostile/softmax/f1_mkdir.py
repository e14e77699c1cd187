# row: F1
# outcome: passed
# needs: read-only files
# makes a folder
import os


def attempt():
    os.mkdir("/tmp/attention-katas-was-here")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: mkdir")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
