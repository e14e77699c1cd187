# row: F1
# outcome: passed
# needs: read-only files
# opens a file of its own library for appending, and writes nothing
import os


def attempt():
    open(os.__file__, "a").close()


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: append_to_a_library")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
