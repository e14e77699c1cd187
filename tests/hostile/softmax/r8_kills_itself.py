# row: R8
# outcome: crashed
# says: SIGKILL
# ends itself with SIGKILL
import os
import signal


def softmax(x, dim=-1):
    os.kill(os.getpid(), signal.SIGKILL)
