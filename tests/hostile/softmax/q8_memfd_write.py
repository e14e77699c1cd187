# row: Q8
# outcome: passed
# needs: memory, time and size limits
# writes 2 GB into a file in memory
import os


def bomb():
    file = os.memfd_create('x')
    try:
        for _ in range(32):
            os.write(file, bytes(64 << 20))
    finally:
        os.close(file)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: memfd_write")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
