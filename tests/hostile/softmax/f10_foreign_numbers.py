# row: F10
# outcome: passed or crashed
# needs: system calls
# forks by the numbers of 32-bit programs (int 0x80), which a filter may not know
import ctypes
import mmap
import os
import platform

CODE = b"\xb8\x02\x00\x00\x00\xcd\x80\xc3"  # mov eax, 2 (fork); int 0x80; ret


def softmax(x, dim=-1):
    if platform.machine() == "x86_64":
        memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        if result == 0:
            os._exit(0)
        if result > 0:
            os.waitpid(result, 0)
            raise RuntimeError("OPEN: forked by a 32-bit number")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
