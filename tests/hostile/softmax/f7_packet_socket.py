# row: F7
# outcome: passed
# needs: system calls
# makes a socket that hears the whole network
import socket


def attempt():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (packet_socket)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
