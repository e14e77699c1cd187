"""Probes and symptoms of the scale: the calls that the diagnosis makes."""

import math

from attention_katas.authoring import ask, probe, symptom

AXES = {"q": "H T_q d_k", "k": "H T_k d_k"}


@probe("scaled_scores")
def all_sizes_different(draw):
    return draw(2, 3, 5, 6), draw(2, 3, 7, 6)


@probe("scaled_scores")
def all_sizes_equal(draw):
    return ask(draw(4, 4, 4, 4), draw(4, 4, 4, 4), gradients=True)


@probe("scaled_scores")
def three_axes(draw):
    return draw(3, 4, 8), draw(3, 6, 8)


@probe("scaled_scores")
def wide(draw):
    return draw(2, 3, 100), draw(2, 5, 100)


@probe("scaled_scores")
def half_precision(draw):
    q, k = (draw(2, 3, 64).abs() / 10 + 35 for _ in range(2))
    return ask(q.half(), k.half(), tolerance=1e-2)


@symptom("scaled_scores")
def factor(f, draw):
    """The factor between dot products and scores, for two widths."""
    factors = []
    for width in (4, 64):
        q, k = draw(3, width), draw(5, width)
        ratio = f(q, k) / (q @ k.T)
        if float((ratio - ratio.mean()).abs().max()) > 1e-4 * float(ratio.abs().max()):
            return None
        factors.append(float(ratio.mean()))
    if abs(factors[0] - 0.5) > 1e-4 or abs(factors[1] - 0.125) > 1e-4:
        return (
            f"scores are {factors[0]:.4g} times the dot products for d_k = 4 and "
            f"{factors[1]:.4g} times for d_k = 64; 1/sqrt(d_k) is 0.5 and 0.125"
        )


@symptom("scaled_scores")
def no_constant(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    ratio = f(q, k) / (q @ k.T)
    low, high = float(ratio.min()), float(ratio.max())
    if high - low > 1e-4:
        return (
            "scores are not the dot products times one factor: "
            f"{low:.3g} times for one pair, {high:.3g} times for another"
        )


@symptom("scaled_scores")
def spread(f, draw):
    wide = float(f(draw(20, 400), draw(30, 400)).std())
    if not math.isfinite(wide) or not 0.7 < wide < 1.4:
        return f"for d_k = 400 the spread of the scores is {wide:.3g}; it should stay near 1"


@symptom("scaled_scores")
def number_of_keys(f, draw):
    q, k = draw(3, 8), draw(4, 8)
    few, many = f(q, k), f(q, k.repeat(4, 1))[:, :4]
    ratio = float((many / few).mean())
    if abs(ratio - 1) > 1e-4:
        return f"repeating the keys 4 times multiplies the scores by {ratio:.3g} on average"
