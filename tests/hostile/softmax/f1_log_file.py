# row: F1
# outcome: passed
# needs: read-only files
# logs to a file
import logging


def attempt():
    logging.FileHandler("/tmp/attention-katas-was-here").close()


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: log_file")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
