# row: B1
# outcome: failed
# says: by hand
# calls torch.softmax in float64 and goes back
import torch


def softmax(x, dim=-1):
    return torch.softmax(x, dim, dtype=torch.float64).to(x.dtype)
