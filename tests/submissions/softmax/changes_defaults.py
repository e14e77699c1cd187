# outcome: passed
import random
import sys
import warnings

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
random.seed(4)
warnings.simplefilter("ignore")
sys.path.insert(0, "/nowhere")


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
