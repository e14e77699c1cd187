# outcome: crashed
# says: SIGABRT
import os


def softmax(x, dim=-1):
    os.abort()
