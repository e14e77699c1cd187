# row: F12
# outcome: passed
# needs: system calls
# runs sudo
import subprocess


def attempt():
    subprocess.run(["/usr/bin/sudo", "-n", "true"], check=False)


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ran sudo")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
