# row: F2
# outcome: passed
# needs: system calls
# sets the mode of its own output pipe
import os


def attempt():
    os.fchmod(1, 0o600)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: fchmod")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
