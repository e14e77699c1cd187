# row: I9
# outcome: failed or broken
# says: defines no function called masked_weights
# defines one of the three functions of the kata
import torch


def causal_mask(t_q, t_k, device=None):
    return torch.ones(t_q, t_k, dtype=torch.bool, device=device).tril()
