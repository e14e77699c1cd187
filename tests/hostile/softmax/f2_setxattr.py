# row: F2
# outcome: passed
# needs: system calls
# gives a library file an attribute
import os


def attempt():
    target = os.__file__
    os.setxattr(target, "user.attention_katas", b"was here")
    os.removexattr(target, "user.attention_katas")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: setxattr")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
