# row: Q19
# outcome: passed
# needs: system calls
# asks for real-time scheduling, which would starve the judge
import ctypes
import os
import platform


def syscall(number, *arguments):
    """A system call by its x86_64 number; OSError when it is refused."""
    if platform.machine() != "x86_64":
        raise OSError("other numbers here")
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    libc.syscall.restype = ctypes.c_long
    result = libc.syscall(ctypes.c_long(number), *numbers)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attempt():
    syscall(144, 0, 1, (ctypes.c_int * 1)(1))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: runs in real time")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
