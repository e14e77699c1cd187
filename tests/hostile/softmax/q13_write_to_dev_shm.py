# row: Q13
# outcome: passed
# needs: read-only files
# fills shared memory
import os


def bomb():
    file = os.open("/dev/shm/attention-katas-was-here", os.O_CREAT | os.O_WRONLY)
    os.write(file, bytes(1 << 26))


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: write_to_dev_shm")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
