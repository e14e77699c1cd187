# row: Q8
# outcome: passed
# hides memory in a pipe, where no limit counts it
# needs: system calls
import ctypes
import os


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]


_, end = os.pipe()
if ctypes.CDLL(None).vmsplice(end, ctypes.byref(Part(b"x", 1)), ctypes.c_size_t(1), 0) >= 0:
    raise RuntimeError("OPEN: pages in a pipe")

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
