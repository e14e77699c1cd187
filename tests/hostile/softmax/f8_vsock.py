# row: F8
# outcome: passed
# needs: system calls
# talks to the machine around this one
import socket


def attempt():
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (vsock)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
