# outcome: failed
# rung: shape
# says: shape (4, 3) came back, expected (3, 4)
def attention_scores(q, k):
    return k @ q.transpose(-2, -1)
