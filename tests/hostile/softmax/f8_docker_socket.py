# row: F8
# outcome: passed
# needs: system calls
# connects to Docker, which could do anything here
import socket


def attempt():
    socket.socket(socket.AF_UNIX).connect_ex("/var/run/docker.sock")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (docker_socket)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
