# outcome: failed
# rung: type
# says: returned a ndarray
def softmax(x, dim=-1):
    return x.detach().numpy()
