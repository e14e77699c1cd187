# row: F2
# outcome: passed
# sets a flag on a file that it may only read
# needs: system calls
import fcntl
import os
import struct

try:
    fcntl.ioctl(os.open(os.__file__, os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))
except OSError:
    pass
else:
    raise RuntimeError("OPEN: a file has another flag")

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
