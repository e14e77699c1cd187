# row: D6
# outcome: failed
# says: changed its input k
# scales the keys in place
def scaled_scores(q, k):
    k.data.mul_(q.size(-1) ** -0.5)
    return q @ k.transpose(-2, -1)
