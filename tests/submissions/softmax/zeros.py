# outcome: failed
# rung: values
def softmax(x, dim=-1):
    return x * 0
