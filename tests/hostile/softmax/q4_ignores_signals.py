# row: Q4
# outcome: timed out
# ignores every signal and loops
import signal


def softmax(x, dim=-1):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    while True:
        pass
    return x * 0
