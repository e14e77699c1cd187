import torch


def attention_scores(q, k):
    parts = [q @ piece.transpose(-2, -1) for piece in k.split(2, dim=-2)]
    return torch.cat(parts, dim=-1)
