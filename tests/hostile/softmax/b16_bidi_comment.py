# row: B16
# outcome: failed
# says: by hand
# turns the direction of text round, so that code looks like a comment
import torch


def softmax(x, dim=-1):
    """‮ ⁦right by hand⁩ ⁦"""; return torch.softmax(x, dim)
