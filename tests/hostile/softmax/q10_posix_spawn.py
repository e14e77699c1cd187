# row: Q10
# outcome: passed
# needs: system calls
# runs a program with posix_spawn
import os


def attempt():
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ran a program")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
