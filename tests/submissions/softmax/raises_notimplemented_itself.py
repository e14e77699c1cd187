# outcome: failed
# rung: answered
# says: raised NotImplementedError
def softmax(x, dim=-1):
    y = x * 2
    raise NotImplementedError("half written")
