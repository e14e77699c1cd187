# row: F8
# outcome: passed
# needs: system calls
# connects to an abstract address
import socket


def attempt():
    socket.socket(socket.AF_UNIX).connect_ex("\0/tmp/.X11-unix/X0")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (abstract)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
