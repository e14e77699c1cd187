# outcome: failed
# rung: inputs unchanged
# says: changed its input x
def softmax(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    e = x.exp()
    return e / e.sum(dim, keepdim=True)
