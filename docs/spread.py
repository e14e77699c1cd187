"""The table in katas/scale/lesson.md: what wide vectors do to softmax.  python docs/spread.py

Queries and keys have unit normal entries; 2000 queries look at 8 keys each. "gradient" is the
mean trace of softmax's Jacobian, sum of w (1 - w): what is left of a change of the scores.
"""

import torch


def row(width: int, scaled: bool) -> tuple[float, float, float]:
    """Spread of the scores, mean largest weight, mean gradient."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2000, 1, width, generator=generator, dtype=torch.float64)
    k = torch.randn(2000, 8, width, generator=generator, dtype=torch.float64)
    scores = (q @ k.transpose(-2, -1)).squeeze(1)
    if scaled:
        scores = scores / width**0.5
    weights = scores.softmax(-1)
    gradient = (weights * (1 - weights)).sum(-1)
    return float(scores.std()), float(weights.amax(-1).mean()), float(gradient.mean())


def table() -> str:
    """The rows as they stand in the lesson."""
    lines = ["d_k    spread   largest weight   gradient", "plain"]
    for scaled in (False, True):
        if scaled:
            lines.append("divided by sqrt(d_k)")
        for width in (4, 64, 1024):
            spread, largest, gradient = row(width, scaled)
            lines.append(f"{width:<6}{spread:7.1f}{largest:17.2f}{gradient:11.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
