# row: F12
# outcome: passed
# needs: system calls
# becomes root, or another user
import os


def attempt():
    os.setresuid(0, 0, 0) if os.getuid() else os.setgroups([0])


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: changed who it is")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
