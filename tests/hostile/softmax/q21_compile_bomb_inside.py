# row: Q21
# outcome: out of memory or timed out or crashed or broken or failed
# compiles 40 MB of source while it is loaded
exec("x=1\n" * 10_000_000)


def softmax(x, dim=-1):
    return x
