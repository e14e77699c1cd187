# row: F8
# outcome: passed
# needs: system calls
# connects the line to the judge elsewhere
import os
import socket
import stat


def attempt():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                socket.socket(fileno=os.dup(number)).bind("\0attention-katas-was-here")
                return
        except OSError:
            continue
    raise OSError("none of them")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: the line has a second address")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
