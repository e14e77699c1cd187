# row: F2
# outcome: passed
# needs: system calls
# removes an attribute of a file; 'no such attribute' would mean that it might
import errno
import os


def attempt():
    target = os.__file__
    try:
        os.removexattr(target, "user.attention_katas")
    except OSError as error:
        if error.errno == errno.ENODATA:
            return
        raise


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: removexattr")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
