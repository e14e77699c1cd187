# row: D19
# outcome: failed
# says: no gradient reaches k
# lets no gradient reach the keys
def attention_scores(q, k):
    return q @ k.detach().transpose(-2, -1)
