# row: F2
# outcome: passed
# needs: system calls
# sets the mode of a file with fchmodat2 (to what it is already)
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
    target = os.__file__
    syscall(452, -100, target.encode(), os.stat(target).st_mode & 0o7777, 0)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: fchmodat2")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
