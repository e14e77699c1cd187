# row: Q16
# outcome: crashed
# says: SIGPIPE
# ends itself with SIGPIPE
import os
import signal
import time


def softmax(x, dim=-1):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    time.sleep(1)
    return x * 0
