# row: R18
# outcome: failed or broken or crashed
# empties sys.modules
import sys

sys.modules.clear()


def softmax(x, dim=-1):
    return x * 0
