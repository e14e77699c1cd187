# outcome: broken
# says: softmax is a generator
def softmax(x, dim=-1):
    yield x
