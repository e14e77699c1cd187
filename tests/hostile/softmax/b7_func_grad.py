# row: B7
# outcome: failed
# takes it from the gradient of log-sum-exp of its own
import torch


def softmax(x, dim=-1):
    return torch.func.jvp(lambda y: torch.log_softmax(y, dim), (x,), (x,))[0]
