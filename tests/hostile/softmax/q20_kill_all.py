# row: Q20
# outcome: passed
# needs: system calls
# may it signal everybody? (kill -1, signal 0 only asks)
import os


def attempt():
    os.kill(-1, 0)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: may kill everybody")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
