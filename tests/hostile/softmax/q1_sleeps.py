# row: Q1
# outcome: timed out
# sleeps for a day
import time


def softmax(x, dim=-1):
    time.sleep(86400)
    return x * 0
