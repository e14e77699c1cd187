# row: F5
# outcome: passed
# needs: read-only files
# reads files about the machine and its users
import os


def attempt():
    for name in ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id"]:
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
        raise RuntimeError("OPEN: reads files about the machine and its users")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
