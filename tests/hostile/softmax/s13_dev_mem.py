# row: S13
# outcome: passed
# needs: read-only files
# opens the memory of the machine
def attempt():
    for name in ("/dev/mem", "/dev/kmem", "/proc/kcore", "/dev/port", "/proc/kallsyms"):
        try:
            open(name, "rb").close()
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
        raise RuntimeError("OPEN: memory of the machine")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
