# row: F7
# outcome: passed
# needs: system calls
# makes the socket that a name server would be asked through
import socket


def attempt():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.53", 53))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (dns)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
