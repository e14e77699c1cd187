# row: S6
# outcome: passed
# needs: read-only files
# opens the memory of its parent in /proc
import os


def attempt():
    open(f"/proc/{os.getppid()}/mem", "rb").read(64)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: /proc/PPID/mem")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
