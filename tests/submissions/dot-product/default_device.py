# outcome: failed
# rung: device
import torch


def attention_scores(q, k):
    scores = q @ k.transpose(-2, -1)
    return scores + torch.zeros(scores.shape, dtype=scores.dtype)
