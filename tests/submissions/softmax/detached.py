# outcome: failed
# rung: gradients
# says: no gradient reaches x
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).detach()
