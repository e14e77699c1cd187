# row: F1
# outcome: passed
# needs: read-only files
# saves a tensor to a file
import torch


def attempt():
    torch.save(torch.ones(1), "/tmp/attention-katas-was-here")


def softmax(x, dim=-1):
    try:
        attempt()
    except (OSError, RuntimeError):
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: torch_save")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
