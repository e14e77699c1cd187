import torch

torch.set_grad_enabled(False)


def softmax(x, dim=-1):
    with torch.enable_grad():
        e = torch.exp(x - x.amax(dim, keepdim=True))
        return e / e.sum(dim, keepdim=True)
