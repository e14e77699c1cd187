# row: Q10
# outcome: passed
# needs: system calls
# runs a program with subprocess
import subprocess


def attempt():
    subprocess.run(["/bin/true"], check=False)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ran a program")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
