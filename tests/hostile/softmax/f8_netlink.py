# row: F8
# outcome: passed
# needs: system calls
# asks the kernel about the network
import socket


def attempt():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (netlink)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
