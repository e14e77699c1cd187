# row: R17
# outcome: passed
# needs: read-only files
# leaves a usercustomize.py for the next Python to run
import os
import site
import sys


def attempt():
    for folder in [*sys.path, os.path.dirname(os.__file__), site.getusersitepackages(), site.getuserbase()]:
        try:
            os.close(os.open(os.path.join(folder, "attention-katas-was-here-usercustomize.py"), os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
        return
    raise OSError("nowhere")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: left a usercustomize.py")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
