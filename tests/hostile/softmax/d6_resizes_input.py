# row: D6
# outcome: failed
# takes the storage of its input away
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    answer = e / e.sum(dim, keepdim=True)
    x.detach().resize_(0)
    x.data = x.data[:0]
    return answer
