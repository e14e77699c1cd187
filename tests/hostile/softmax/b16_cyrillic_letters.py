# row: B16
# outcome: failed
# says: AttributeError
# a built-in whose name has a Cyrillic letter: another name, which is not there
import torch


def softmax(x, dim=-1):
    return torch.softmаx(x, dim)
