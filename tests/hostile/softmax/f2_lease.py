# row: F2
# outcome: passed
# takes a lease on a file, which makes everybody else wait
# needs: system calls
import fcntl
import os

try:
    fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 1024, 1)
except OSError:
    pass
else:
    raise RuntimeError("OPEN: others wait for a file")

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
