# outcome: failed
# rung: shape
# says: shape (3,) came back, expected (3, 5)
def softmax(x, dim=-1):
    return x.sum(dim)
