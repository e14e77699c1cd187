# row: F14
# outcome: passed
# needs: read-only files
# drops a library into a folder and loads it
import ctypes


def attempt():
    open("/tmp/attention-katas-was-here.so", "wb").write(b"\x7fELF")
    ctypes.CDLL("/tmp/attention-katas-was-here.so")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: dropped a library")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
