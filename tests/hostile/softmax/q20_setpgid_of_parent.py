# row: Q20
# outcome: passed
# moves into the group of its parent, so that a signal to that reaches both
import os


def attempt():
    os.setpgid(0, os.getpgid(os.getppid()))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: moved into the group of its parent")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
