# row: F10
# outcome: passed
# changes its segments (modify_ldt), a door of old exploits
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
    syscall(154, 0, ctypes.create_string_buffer(16), 16)
    raise OSError('reading is harmless')


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: modify_ldt")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
