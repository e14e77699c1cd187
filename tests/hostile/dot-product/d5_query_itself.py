# row: D5
# outcome: failed
# answers one of its inputs
def attention_scores(q, k):
    return q
