# row: B3
# outcome: failed
# looks the operator up in the register of TorchScript
import torch


def softmax(x, dim=-1):
    return torch._C._jit_get_operation("aten::_softmax")[0](x, dim, False)
