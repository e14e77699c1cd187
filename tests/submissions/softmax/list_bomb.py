# outcome: out of memory
def softmax(x, dim=-1):
    return [0] * (1 << 33)
