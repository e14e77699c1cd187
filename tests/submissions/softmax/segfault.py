# outcome: crashed
# says: SIGSEGV
import ctypes


def softmax(x, dim=-1):
    ctypes.string_at(0)
