# row: B9
# outcome: failed
# calls the fast path of multi-head attention
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    return torch._native_multi_head_attention(x[None], x[None], x[None], x.size(-1), 1, *[torch.eye(x.size(-1))] * 4)[1][0]
