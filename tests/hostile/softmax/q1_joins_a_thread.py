# row: Q1
# outcome: timed out
# waits for a thread that never ends
import threading


def softmax(x, dim=-1):
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    thread.join()
    return x * 0
