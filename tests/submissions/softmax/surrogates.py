# outcome: failed
# rung: answered
def softmax(x, dim=-1):
    raise ValueError("\ud800 \x1b[2J")
