# outcome: failed
# rung: answered
# says: raised RecursionError
def softmax(x, dim=-1):
    return softmax(x, dim)
