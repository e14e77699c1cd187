# row: Q14
# outcome: passed
# needs: memory, time and size limits
# opens /dev/null until it gets no more, 5000 times at most
import os


def bomb():
    kept = []
    try:
        for _ in range(5000):
            kept.append(os.open('/dev/null', os.O_RDONLY))
    finally:
        for descriptor in kept:
            os.close(descriptor)


def softmax(x, dim=-1):
    try:
        bomb()
    except (OSError):
        pass  # stopped, as it should be
    else:
        raise RuntimeError("OPEN: descriptors")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
