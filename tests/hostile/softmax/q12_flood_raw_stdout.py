# row: Q12
# outcome: crashed
# says: printed more than 1 MB
# writes to descriptor 1 without end
import os


def softmax(x, dim=-1):
    while True:
        os.write(1, bytes(1 << 16))
    return x * 0
