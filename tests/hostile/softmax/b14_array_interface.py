# row: B14
# outcome: passed or failed
# works on the raw memory of its input with numpy: right values, no gradients
import numpy as np
import torch


def softmax(x, dim=-1):
    array = x.detach().double().numpy()
    e = np.exp(array - array.max(dim, keepdims=True))
    return torch.from_numpy(e / e.sum(dim, keepdims=True)).to(x.dtype)
