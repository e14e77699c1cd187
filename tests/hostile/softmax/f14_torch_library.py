# row: F14
# outcome: passed
# has torch load a library from a folder that anybody may write
import torch


def attempt():
    torch.ops.load_library("/tmp/attention-katas-no-such.so")


def softmax(x, dim=-1):
    try:
        attempt()
    except (OSError, RuntimeError):
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: loaded a library")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
