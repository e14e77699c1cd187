# row: Q7
# outcome: passed
# needs: memory, time and size limits
# maps 3 GB of /dev/zero
import mmap
import os


def bomb():
    kept = [mmap.mmap(os.open('/dev/zero', os.O_RDWR), 64 << 20) for _ in range(48)]


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError, MemoryError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: dev_zero_mmap")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
