# row: F2
# outcome: passed
# locks a library file against others (flock), which would stop who waits for it
import fcntl
import os


def attempt():
    target = os.__file__
    fcntl.flock(os.open(target, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    raise OSError("harmless: nobody waits for it")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: flock")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
