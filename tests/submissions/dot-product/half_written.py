# outcome: failed
# rung: answered
# says: raised TypeError
def attention_scores(q, k):
    ...
    return q @ None
