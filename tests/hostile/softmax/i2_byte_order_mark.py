
# row: I2
# outcome: passed or broken
# starts with a byte order mark (`kata run` takes it off; text judged directly is broken by it)
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
