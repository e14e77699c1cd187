"""Names of the families that a kata.toml may ban, for people.

Their operators stand in learner/bans.py, which needs torch.
"""

FAMILIES = {
    "attention": "PyTorch's built-in attention",
    "softmax": "PyTorch's built-in softmax and log-softmax",
}
