# row: I21
# outcome: failed
# starts the debugger
import os  # noqa: F401
import sys  # noqa: F401


def softmax(x, dim=-1):
    return breakpoint()
