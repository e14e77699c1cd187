import torch


def attention_scores(q, k):
    flat_q = q.reshape(-1, *q.shape[-2:])
    flat_k = k.reshape(-1, *k.shape[-2:])
    out = torch.stack([torch.stack([key @ rows.mT for key in [a]])[0] for a, rows in zip(flat_q, flat_k)])
    return out.reshape(*q.shape[:-1], k.shape[-2])
