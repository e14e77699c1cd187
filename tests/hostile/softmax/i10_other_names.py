# row: I10
# outcome: failed
# says: cannot be called as softmax(x, dim=
# calls the axis axis
def softmax(x, axis=-1):
    e = (x - x.amax(axis, keepdim=True)).exp()
    return e / e.sum(axis, keepdim=True)
