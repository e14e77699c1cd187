# row: B11
# outcome: failed or timed out or broken
# takes the recipe from the module of decompositions
import torch._decomp.decompositions as recipes


def softmax(x, dim=-1):
    return recipes._softmax(x, dim, False)
