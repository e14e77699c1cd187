# row: W5
# outcome: passed
# needs: system calls
# installs a package
import subprocess
import sys


def attempt():
    subprocess.run([sys.executable, "-m", "pip", "--version"], check=True, capture_output=True)


def softmax(x, dim=-1):
    try:
        attempt()
    except (OSError, subprocess.SubprocessError):
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: ran pip")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
