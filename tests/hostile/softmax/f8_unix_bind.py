# row: F8
# outcome: passed
# needs: system calls
# binds an abstract address for others to connect to
import socket


def attempt():
    socket.socket(socket.AF_UNIX).bind("\0attention-katas-was-here")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (unix_bind)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
