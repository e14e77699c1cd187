"""What the diagnosis asks about the scale."""

import math

from attention_katas.authoring.probing import ask, probe, symptom

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
    """The number by which the dot products are multiplied, for two widths."""
    found = []
    for width in (4, 64):
        q, k = draw(3, width), draw(5, width)
        ratio = f(q, k) / (q @ k.T)
        if float((ratio - ratio.mean()).abs().max()) > 1e-4 * float(ratio.abs().max()):
            return None
        found.append(float(ratio.mean()))
    if abs(found[0] - 0.5) > 1e-4 or abs(found[1] - 0.125) > 1e-4:
        return (
            f"scores are {found[0]:.4g} times the dot product for d_k = 4 and {found[1]:.4g} times "
            "for d_k = 64; 1/sqrt(d_k) is 0.5 and 0.125"
        )


@symptom("scaled_scores")
def no_constant(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    ratio = f(q, k) / (q @ k.T)
    low, high = float(ratio.min()), float(ratio.max())
    if high - low > 1e-4:
        return (
            "scores are not one number times the dot products: "
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
        return f"four times as many keys change every score, by a factor of {ratio:.3g} on average"
