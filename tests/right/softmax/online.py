import torch


def softmax(x, dim=-1):
    """One pass with a running maximum and a running sum."""
    x = x.movedim(dim, -1)
    top = x[..., :1]
    total = torch.ones_like(top)
    for i in range(1, x.shape[-1]):
        entry = x[..., i : i + 1]
        new = torch.maximum(top, entry)
        safe = torch.where(torch.isinf(new), torch.zeros_like(new), new)
        total = total * torch.exp(top - safe) + torch.exp(entry - safe)
        top = new
        total = torch.where(torch.isinf(new), torch.ones_like(total), total)
    return (torch.exp(x - top) / total).movedim(-1, dim)
