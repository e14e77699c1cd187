# row: B11
# outcome: failed or timed out or broken
# takes the recipe of attention from the module of decompositions
import torch
import torch._decomp.decompositions as recipes


def causal_mask(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()


def masked_weights(scores, keep=None):
    allowed = causal_mask(*scores.shape[-2:], device=scores.device).expand(scores.shape)
    if keep is not None:
        allowed = allowed & keep[:, None, None, :]
    weights = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~allowed, 0)


def scaled_dot_product_attention(q, k, v, causal=True):
    return recipes.scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)[0]
