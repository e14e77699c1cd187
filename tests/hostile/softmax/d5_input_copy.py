# row: D5
# outcome: failed
# answers a copy of its input
def softmax(x, dim=-1):
    return x.clone()
