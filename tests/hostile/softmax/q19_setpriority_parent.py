# row: Q19
# outcome: passed
# needs: system calls
# sets the priority of its parent (to what it is already)
import os


def attempt():
    now = os.getpriority(os.PRIO_PROCESS, os.getppid())
    os.setpriority(os.PRIO_PROCESS, os.getppid(), now)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: may set the priority of its parent")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
