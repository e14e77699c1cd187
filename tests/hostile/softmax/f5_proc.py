# row: F5
# outcome: passed
# needs: read-only files
# reads files about the system and its processes
import os


def attempt():
    for name in ["/proc/mounts", "/proc/self/maps", "/proc/1/environ", "/proc/1/cmdline", "/proc/net/tcp", "/proc/kmsg", "/proc/keys", "/proc/version"]:
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
        raise RuntimeError("OPEN: reads files about the system and its processes")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
