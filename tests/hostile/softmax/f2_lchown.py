# row: F2
# outcome: passed
# needs: system calls
# sets the owner of a library file with lchown (to nobody new)
import os


def attempt():
    target = os.__file__
    os.lchown(target, -1, -1)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: lchown")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
