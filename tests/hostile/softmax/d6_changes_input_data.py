# row: D6
# outcome: failed
# says: changed its input x
# changes its input through .data, which autograd does not see
def softmax(x, dim=-1):
    x.data -= x.data.amax(dim, keepdim=True)
    e = x.exp()
    return e / e.sum(dim, keepdim=True)
