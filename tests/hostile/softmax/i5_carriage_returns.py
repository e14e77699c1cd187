# row: I5
# outcome: passed or broken or failed
# hides a statement behind a bare carriage return in a comment
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
# harmlessraise ValueError
