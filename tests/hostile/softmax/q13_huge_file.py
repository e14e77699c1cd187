# row: Q13
# outcome: passed
# needs: read-only files
# makes a file as large as it can
import os


def bomb():
    file = os.open("/tmp/attention-katas-was-here", os.O_CREAT | os.O_WRONLY)
    os.posix_fallocate(file, 0, 1 << 30)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: huge_file")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
