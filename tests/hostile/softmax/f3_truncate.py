# row: F3
# outcome: passed
# needs: system calls
# cuts a library file (to the length that it has)
import os


def attempt():
    target = os.__file__
    os.truncate(target, os.stat(target).st_size)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: truncate")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
