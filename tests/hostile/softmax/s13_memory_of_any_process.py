# row: S13
# outcome: passed
# needs: read-only files
# opens the memory of every process whose number is near its own
import os


def attempt():
    for pid in [1, *range(os.getpid() - 20, os.getpid())]:
        try:
            open(f"/proc/{pid}/mem", "rb").close()
        except OSError:
            continue
        return
    raise OSError("none of them")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: the memory of another process")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
