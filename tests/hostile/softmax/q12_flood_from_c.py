# row: Q12
# outcome: crashed
# says: printed more than 1 MB
# prints from C without end
import ctypes


def softmax(x, dim=-1):
    libc = ctypes.CDLL(None)
    while True:
        libc.puts(b"x" * 60000)
    return x * 0
