# row: I10
# outcome: failed
# has another default
def softmax(x, dim=0):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
