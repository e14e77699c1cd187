# row: B8
# outcome: failed or timed out
# calls PyTorch's attention on jagged tensors
import torch
import torch.nn.functional as F


def causal_mask(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()


def masked_weights(scores, keep=None):
    allowed = causal_mask(*scores.shape[-2:], device=scores.device).expand(scores.shape)
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~allowed, 0)


def scaled_dot_product_attention(q, k, v, causal=True):
    q, k, v = (torch.nested.nested_tensor(list(t.detach().transpose(1, 2)), layout=torch.jagged).transpose(1, 2) for t in (q, k, v))
    return torch.stack(F.scaled_dot_product_attention(q, k, v, is_causal=causal).unbind())
