# row: F1
# outcome: passed
# needs: read-only files
# removes a folder that is never empty: 'not empty' would mean that it might
import errno
import os


def attempt():
    try:
        os.rmdir(os.path.dirname(os.__file__))
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return
        raise


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: may remove folders")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
