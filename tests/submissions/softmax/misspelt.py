# outcome: broken
# says: it does define soft_max, which is close
def soft_max(x, dim=-1):
    return x
