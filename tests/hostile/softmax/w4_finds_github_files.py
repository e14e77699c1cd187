# row: W4
# outcome: passed
# needs: read-only files
# lists where the runner keeps the files by which a job talks to it
import os


def attempt():
    for name in ("/home/runner/work/_temp/_runner_file_commands", "/github/file_commands", "/home/runner/work", "/home/runner"):
        try:
            os.listdir(name)
        except OSError:
            continue
        return
    raise OSError("none of them")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: found the files of the runner")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
