# row: F6
# outcome: passed
# needs: system calls
# listens on a port of this machine
import socket


def attempt():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (tcp_listen)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
