# row: B8
# outcome: failed
# reads the mean of a one-hot distribution
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    return torch.distributions.OneHotCategorical(logits=x.movedim(dim, -1)).mean.movedim(-1, dim)
