# outcome: failed
# rung: answered
# says: raised EOFError
def softmax(x, dim=-1):
    return input("weights? ")
