# row: B2
# outcome: failed
# says: by hand
# calls torch.special.softmax
import torch


def softmax(x, dim=-1):
    return torch.special.softmax(x, dim)
