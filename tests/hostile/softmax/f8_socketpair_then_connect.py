# row: F8
# outcome: passed
# needs: system calls
# makes a pair of sockets and connects one of them elsewhere
import socket


def attempt():
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pair[0].connect("/run/systemd/journal/dev-log")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket that reaches others")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
