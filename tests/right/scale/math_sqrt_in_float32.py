import math

import torch


def scaled_scores(q, k):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k = q.float(), k.float()
    return (torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])).to(dtype)
