# outcome: failed
# rung: gradients
# says: the gradient of x differs
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True).detach()
