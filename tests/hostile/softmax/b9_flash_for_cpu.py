# row: B9
# outcome: failed
# calls the kernel of attention for the CPU
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x[None, None], x[None, None], x[None, None])[0][0, 0]
