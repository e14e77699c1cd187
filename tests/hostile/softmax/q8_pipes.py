# row: Q8
# outcome: passed
# needs: memory, time and size limits
# fills as many pipes as it gets, a megabyte each
import fcntl
import os


def bomb():
    kept = []
    try:
        for _ in range(1000):
            read_end, write_end = os.pipe()
            kept += [read_end, write_end]
            fcntl.fcntl(write_end, 1031, 1 << 20)  # F_SETPIPE_SZ
            os.set_blocking(write_end, False)
            os.write(write_end, bytes(1 << 20))
    finally:
        for descriptor in kept:
            os.close(descriptor)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: pipes")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
