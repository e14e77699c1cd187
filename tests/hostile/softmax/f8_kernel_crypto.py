# row: F8
# outcome: passed
# needs: system calls
# makes a socket to the kernel's crypto
import socket


def attempt():
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (kernel_crypto)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
