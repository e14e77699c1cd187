# row: R19
# outcome: passed
# turns writing of bytecode on and imports much
import sys

sys.dont_write_bytecode = False
sys.pycache_prefix = "/tmp/attention-katas-was-here"
import colorsys  # noqa: E402, F401
import wave  # noqa: E402, F401


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
