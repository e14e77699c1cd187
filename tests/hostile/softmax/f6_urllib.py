# row: F6
# outcome: passed
# needs: system calls
# fetches a page from this machine
import urllib.error
import urllib.request


def attempt():
    try:
        urllib.request.urlopen("http://127.0.0.1:9/", timeout=1)
    except urllib.error.URLError as error:
        if isinstance(error.reason, ConnectionRefusedError):
            return  # it got as far as the port
        raise


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (urllib)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
