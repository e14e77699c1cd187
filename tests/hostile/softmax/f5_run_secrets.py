# row: F5
# outcome: passed
# needs: read-only files
# reads where containers keep their secrets
import os


def attempt():
    for name in ["/run/secrets/kubernetes.io/serviceaccount/token", "/.dockerenv", "/run/.containerenv", "/proc/1/cgroup"]:
        try:
            os.close(os.open(name, os.O_RDONLY))
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
        raise RuntimeError("OPEN: reads where containers keep their secrets")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
