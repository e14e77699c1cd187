# outcome: failed
# rung: answered
# says: raised RuntimeError
def attention_scores(q, k):
    return q @ k
