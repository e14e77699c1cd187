# row: Q2
# outcome: timed out
# raises a number to a power for hours
def softmax(x, dim=-1):
    3 ** (1 << 36)
    return x * 0
