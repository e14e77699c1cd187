# row: Q2
# outcome: timed out
# loops in TorchScript, without Python
import torch

endless = torch.jit.CompilationUnit("""
def run(n: int) -> int:
    while n > 0:
        n = (n + 1) % 1000003 + 1
    return n
""")


def softmax(x, dim=-1):
    endless.run(1)
    return x * 0
