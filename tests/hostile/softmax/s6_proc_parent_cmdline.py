# row: S6
# outcome: passed
# needs: read-only files
# opens the command line of its parent in /proc
import os


def attempt():
    open(f"/proc/{os.getppid()}/cmdline", "rb").read(64)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: /proc/PPID/cmdline")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
