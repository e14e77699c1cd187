"""What the families that a kata.toml may ban are called: "PyTorch's built-in ...".

Their operators stand in learner/bans.py, which needs torch.
"""

FAMILIES = {
    "attention": "attention",
    "softmax": "softmax and log-softmax",
}
