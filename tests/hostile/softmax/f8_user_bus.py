# row: F8
# outcome: passed
# needs: system calls
# connects to the user's D-Bus, which starts programs
import os
import socket


def attempt():
    socket.socket(socket.AF_UNIX).connect_ex(f"/run/user/{os.getuid()}/bus")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (user_bus)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
