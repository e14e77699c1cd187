# row: D5
# outcome: failed
# answers a view of its input
def softmax(x, dim=-1):
    return x.view_as(x)
