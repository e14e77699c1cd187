# row: Q6
# outcome: out of memory or timed out
# needs: memory, time and size limits
# grows a dict, 4 GB at most
def softmax(x, dim=-1):
    kept = {}
    for n in range(1 << 25):
        kept[n] = n + 1.5
    return x * 0
