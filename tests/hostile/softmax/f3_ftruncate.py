# row: F3
# outcome: passed
# needs: system calls
# cuts an open library file (to the length that it has)
import os


def attempt():
    target = os.__file__
    os.ftruncate(os.open(target, os.O_RDWR), os.stat(target).st_size)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ftruncate")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
