# row: F1
# outcome: passed
# needs: read-only files
# writes into the home folder
import os
import pwd


def attempt():
    open(os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".attention-katas-was-here"), "w").close()


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: write_home")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
