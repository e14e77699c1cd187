# row: F1
# outcome: passed
# needs: read-only files
# writes to the terminal
import os


def attempt():
    os.write(os.open("/dev/tty", os.O_WRONLY), b"")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: terminal")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
