# outcome: failed
# rung: type
# says: returned a list
def softmax(x, dim=-1):
    return x.tolist()
