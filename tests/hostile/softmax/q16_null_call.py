# row: Q16
# outcome: crashed
# breaks the process: null call
import ctypes


def softmax(x, dim=-1):
    ctypes.CFUNCTYPE(None)(1)()
    return x * 0
