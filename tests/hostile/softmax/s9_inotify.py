# row: S9
# outcome: passed
# watches a folder that it may not list
# needs: system calls
import ctypes

if ctypes.CDLL(None).inotify_init1(0) >= 0:
    raise RuntimeError("OPEN: it may watch folders")

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
