# outcome: broken
# says: ZeroDivisionError
1 / 0


def softmax(x, dim=-1):
    return x
