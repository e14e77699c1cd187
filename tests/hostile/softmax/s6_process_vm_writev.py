# row: S6
# outcome: passed
# needs: system calls
# writes zero bytes into its parent with process_vm_writev
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
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(8)
    here, there = Vector(ctypes.addressof(buffer), 0), Vector(id(os), 0)
    syscall(311, os.getppid(), ctypes.byref(here), 1, ctypes.byref(there), 1, 0)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: may write the memory of the parent")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
