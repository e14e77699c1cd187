"""`python -m attention_katas` is `kata`, also beside a learner's own random.py or torch.py."""

import os
import sys

# `python -m` puts the current folder first on sys.path, where a learner's torch.py would win.
sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]

from attention_katas.command import entry  # noqa: E402

entry()
