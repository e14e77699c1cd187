# row: B1
# outcome: failed
# says: by hand
# calls the method
def softmax(x, dim=-1):
    return x.softmax(dim)
