# row: F6
# outcome: passed
# needs: system calls
# makes a TCP socket by the raw system call
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
    syscall(41, 2, 1, 0)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
