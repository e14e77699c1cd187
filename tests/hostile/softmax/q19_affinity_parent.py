# row: Q19
# outcome: passed
# needs: system calls
# sets the processors of its parent (to what they are already)
import os


def attempt():
    now = os.sched_getaffinity(os.getppid())
    os.sched_setaffinity(os.getppid(), now)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: may set the processors of its parent")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
