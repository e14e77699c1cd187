# row: Q7
# outcome: passed
# needs: memory, time and size limits
# moves the end of the heap up by 4 GB
import ctypes


def bomb():
    sbrk = ctypes.CDLL(None).sbrk
    sbrk.restype, sbrk.argtypes = ctypes.c_long, [ctypes.c_long]
    if sbrk(4 << 30) == -1:
        raise MemoryError
    sbrk(-(4 << 30))


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError, MemoryError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: brk")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
