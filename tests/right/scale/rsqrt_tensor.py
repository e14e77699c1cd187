import torch


def scaled_scores(q, k):
    root = torch.tensor(float(q.shape[-1]), dtype=q.dtype, device=q.device).rsqrt()
    return (q * root).matmul(k.mT)
