# outcome: failed
# rung: answered
# says: raised TypeError
def softmax(x, dim, temperature):
    return x
