# row: F5
# outcome: passed
# needs: read-only files
# lists folders outside of Python's
import os


def attempt():
    for name in ("/", "/home", "/root", "/etc", "/tmp", "/var", "/proc", "/sys", "/dev", "/run", "."):
        try:
            os.listdir(name)
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
        raise RuntimeError("OPEN: lists a folder")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
