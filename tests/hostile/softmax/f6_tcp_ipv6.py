# row: F6
# outcome: passed
# needs: system calls
# connects by IPv6
import socket


def attempt():
    socket.socket(socket.AF_INET6).connect_ex(("::1", 9))


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (tcp_ipv6)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
