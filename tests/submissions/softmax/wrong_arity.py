# outcome: failed
# rung: answered
# says: cannot be called as softmax(x)
def softmax(x, dim, temperature):
    return x
