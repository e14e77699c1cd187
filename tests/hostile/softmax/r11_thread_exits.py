# row: R11
# outcome: crashed
# says: status 0
# a thread leaves with status 0 while the answer is waited for
import os
import threading
import time


def softmax(x, dim=-1):
    threading.Timer(0.01, os._exit, (0,)).start()
    time.sleep(0.3)
    return x * 0
