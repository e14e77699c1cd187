# row: S6
# outcome: passed
# needs: read-only files
# lists the descriptors of its parent and opens one
import os


def attempt():
    os.listdir(f"/proc/{os.getppid()}/fd")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: /proc/PPID/fd")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
