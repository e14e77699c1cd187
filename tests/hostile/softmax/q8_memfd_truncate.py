# row: Q8
# outcome: passed
# needs: memory, time and size limits
# makes a file of 2 GB in memory
import os


def bomb():
    file = os.memfd_create('x')
    try:
        os.posix_fallocate(file, 0, 2 << 30)
    finally:
        os.close(file)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: memfd_truncate")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
