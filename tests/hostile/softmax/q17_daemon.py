# row: Q17
# outcome: passed
# needs: system calls
# leaves a daemon behind: two forks and a session of its own
import os
import time


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)


def softmax(x, dim=-1):
    try:
        daemon()
    except OSError:
        pass
    else:
        raise RuntimeError("OPEN: left a daemon behind")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
