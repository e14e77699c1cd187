# row: F12
# outcome: passed
# needs: system calls
# runs a setuid program
import os


def attempt():
    os.posix_spawn("/bin/su", ["su", "-c", "true"], {})


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ran su")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
