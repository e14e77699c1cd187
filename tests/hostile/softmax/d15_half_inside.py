# row: D15
# outcome: failed
# computes in half precision and widens the answer
def softmax(x, dim=-1):
    y = x.half()
    e = (y - y.amax(dim, keepdim=True)).exp()
    return (e / e.sum(dim, keepdim=True)).to(x.dtype)
