# row: Q6
# outcome: out of memory or broken
# needs: memory, time and size limits
# asks for gigabytes while it is loaded
kept = bytearray(8 << 30)


def softmax(x, dim=-1):
    return x
