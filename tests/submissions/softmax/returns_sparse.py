# outcome: failed
# rung: type
# says: layout
def softmax(x, dim=-1):
    return x.detach().to_sparse()
