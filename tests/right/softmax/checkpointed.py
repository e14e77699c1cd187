from torch.utils.checkpoint import checkpoint


def _softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def softmax(x, dim=-1):
    return checkpoint(_softmax, x, dim, use_reentrant=True)
