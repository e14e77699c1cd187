# outcome: failed
# rung: finite
# says: NaN
def softmax(x, dim=-1):
    return x * float("nan")
