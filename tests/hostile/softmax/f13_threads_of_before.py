# row: F13
# outcome: passed
# looks for threads that were there before its locks
import sys
import threading


def softmax(x, dim=-1):
    if threading.active_count() > 1 or len(sys._current_frames()) > 1:
        raise RuntimeError("OPEN: there are other threads")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
