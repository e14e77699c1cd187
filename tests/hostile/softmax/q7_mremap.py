# row: Q7
# outcome: passed
# needs: memory, time and size limits
# maps little memory and grows that to 4 GB
import mmap


def bomb():
    mmap.mmap(-1, 4096).resize(4 << 30)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError, MemoryError, SystemError, ValueError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: mremap")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
