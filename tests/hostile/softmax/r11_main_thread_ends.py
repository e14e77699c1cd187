# row: R11
# outcome: failed or crashed or timed out
# ends the main thread alone (pthread_exit) and leaves another behind
import ctypes
import threading
import time


def softmax(x, dim=-1):
    threading.Thread(target=time.sleep, args=(0.2,)).start()
    ctypes.CDLL(None).pthread_exit(None)
