# row: I16
# outcome: passed
# switches anomaly detection on
import torch

torch.autograd.set_detect_anomaly(True)


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
