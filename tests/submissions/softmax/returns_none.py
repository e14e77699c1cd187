# outcome: failed
# rung: type
# says: is a return missing?
def softmax(x, dim=-1):
    e = x.exp()
    e / e.sum(dim, keepdim=True)
