"""Grading: one student's repository, or a class of ten thousand.

collect --> tasks --> service (workers of this machine, or of a cluster) --> ledger --> results -->
formats. What a task is and what comes back is plain data; only workers import torch.
"""

# The environment variable that holds the secret from which all inputs come.
from attention_katas.service.settings import SECRET_VARIABLE as VARIABLE

__all__ = ["VARIABLE"]
