# row: F1
# outcome: passed
# needs: read-only files
# makes a symbolic link
import os


def attempt():
    os.symlink("/etc/passwd", "/tmp/attention-katas-was-here")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: symlink")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
