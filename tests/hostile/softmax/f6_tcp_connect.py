# row: F6
# outcome: passed
# needs: system calls
# connects to a port of this machine
import socket


def attempt():
    socket.socket().connect_ex(("127.0.0.1", 9))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (tcp_connect)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
