# row: I21
# outcome: failed
# starts the debugger by name
import os  # noqa: F401
import sys  # noqa: F401


def softmax(x, dim=-1):
    return __import__('pdb').set_trace()
