# outcome: failed
# rung: answered
# says: raised ValueError
def softmax(x, dim=-1):
    raise ValueError("not today")
