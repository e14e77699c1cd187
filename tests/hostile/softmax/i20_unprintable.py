# row: I20
# outcome: passed
# prints what a terminal may not be able to
print("\u2603 \U0001f600 \x1b[31m \udcff \ud800 \x00 \u202e \x07")


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
