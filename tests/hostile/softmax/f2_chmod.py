# row: F2
# outcome: passed
# needs: system calls
# sets the mode of a library file (to what it is already)
import os


def attempt():
    target = os.__file__
    os.chmod(target, os.stat(target).st_mode & 0o7777)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: chmod")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
