# row: I25
# outcome: broken or passed
# catches two kinds without parentheses, as Python 3.14 does
try:
    pass
except ValueError, TypeError:
    pass


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
