# row: R18
# outcome: failed or broken
# puts another module into sys.modules under its own name
import sys
import types

other = types.ModuleType("softmax")
other.softmax = lambda x, dim=-1: x * 0
sys.modules["softmax"] = other


def softmax(x, dim=-1):
    return x * 0
