# row: B7
# outcome: broken or failed
# compiles it as TorchScript
import torch

weights = torch.jit.CompilationUnit("""
def weights(x, dim: int):
    return torch.softmax(x, dim)
""").weights


def softmax(x, dim=-1):
    return weights(x, dim)
