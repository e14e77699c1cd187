# outcome: crashed
# says: signal 40
import os

os.kill(os.getpid(), 40)


def softmax(x, dim=-1):
    return x
