# row: B3
# outcome: failed
# calls the operator by its name and overload
import torch


def softmax(x, dim=-1):
    return torch._C._get_operation_overload("aten::_softmax", "")[0](x, dim, False)
