"""Probes and symptoms of softmax: the calls that the diagnosis makes."""

import torch

from attention_katas.authoring import ask, broken, close, furthest, probe, symptom

AXES: dict[str, str] = {}
INF = float("inf")


@probe("softmax")
def all_sizes_different(draw):
    return draw(2, 3, 4, 5)


@probe("softmax")
def all_sizes_equal(draw):
    return draw(4, 4, 4, 4)


@probe("softmax")
def three_axes(draw):
    return draw(4, 4, 4)


@probe("softmax")
def a_square(draw):
    return ask(draw(5, 5), gradients=True)


@probe("softmax")
def another_axis(draw):
    return [ask(draw(4, 4, 4), dim=0), ask(draw(4, 4, 4), 1)]


@probe("softmax")
def rows_far_apart(draw):
    x = draw(2, 4, 5, dtype=torch.float32)
    return ask(x + torch.tensor([0.0, -500.0, 500.0, 9.0])[:, None], tolerance=1e-3)


@probe("softmax")
def all_very_low(draw):
    return ask(draw(3, 5, dtype=torch.float32) - 1000, tolerance=1e-3)


@probe("softmax")
def all_very_high(draw):
    return ask(draw(3, 5, dtype=torch.float32) + 1000, tolerance=1e-3)


@probe("softmax")
def one_far_above(draw):
    x = draw(4, 6, dtype=torch.float32)
    x[0, 1] = 300.0
    return ask(x, tolerance=1e-3)


@probe("softmax")
def one_far_below(draw):
    x = draw(4, 6, dtype=torch.float32)
    x[0, 1] = -300.0
    return ask(x, tolerance=1e-3)


@probe("softmax")
def some_hidden(draw):
    x = draw(3, 5)
    x[0, 1:] = x[1, 2] = -INF
    return ask(x)


@symptom("softmax")
def ordinary_scores(f, draw):
    count = broken(f(draw(4, 4)))
    if count:
        return f"for ordinary scores, {count} weights are not finite"


@symptom("softmax")
def rows_sum_to_one(f, draw):
    sums = f(draw(4, 4)).sum(-1)
    index, actual, _ = furthest(sums, torch.ones_like(sums))
    if abs(actual - 1) > 1e-4:
        return f"row {index[0]} of the weights sums to {actual:.3g}, not to 1"


@symptom("softmax", values=False)
def columns_sum_to_one(f, draw):
    weights = f(draw(4, 4))
    if close(weights.sum(0), torch.ones(4, dtype=weights.dtype)):
        return "the weights of every column sum to 1, the weights of a row do not"


@symptom("softmax")
def nothing_negative(f, draw):
    lowest = float(f(draw(4, 4)).min())
    if lowest < 0:
        return f"a weight is negative: {lowest:.3g}"


@symptom("softmax", values=False)
def order(f, draw):
    x = draw(1, 6)
    weights = f(x)
    if not torch.equal(x.argsort(), weights.argsort()):
        return "a higher score does not always get a higher weight"


@symptom("softmax")
def shift(f, draw):
    x = draw(4, 4)
    before, after = f(x), f(x + 3)
    if not close(before, after):
        _index, actual, expected = furthest(after, before)
        return f"adding 3 to every score changes a weight from {expected:.3g} to {actual:.3g}"


@symptom("softmax", values=False)
def rows_are_apart(f, draw):
    x = draw(4, 4)
    before = f(x)
    x = x.clone()
    x[3, 0] += 1.0
    if not close(f(x)[:3], before[:3]):
        return "changing a score of row 3 changes the weights of other rows"


@symptom("softmax", values=False)
def honours_dim(f, draw):
    x = draw(4, 4)
    if not close(f(x, dim=0).sum(0), torch.ones(4, dtype=x.dtype)):
        return "with dim=0 the weights do not sum to 1 along axis 0"


@symptom("softmax")
def ratio(f, draw):
    weights = f(torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    quotient = float(weights[0, 1] / weights[0, 0])
    if abs(quotient - 2.71828) > 1e-3:
        return (
            f"a score that is higher by 1 gets {quotient:.3g} times the weight; "
            "exponentials give it 2.72 times the weight"
        )


@symptom("softmax")
def survives(f, draw):
    x = draw(2, 4, dtype=torch.float32)
    for size, scores in (("1000", x + 1000), ("-1000", x - 1000)):
        count = broken(f(scores))
        if count:
            return f"for scores near {size}, {count} weights are not finite"


@symptom("softmax", values=False)
def one_row_far_below(f, draw):
    x = draw(2, 4, dtype=torch.float32)
    x[1] -= 500
    weights = f(x)
    if not close(weights.sum(-1), torch.ones(2), 1e-3):
        return (
            "the weights of a row do not sum to 1 if its scores are 500 below those of another row"
        )


@symptom("softmax")
def hidden_get_nothing(f, draw):
    x = draw(2, 4)
    x[0, 1] = -INF
    weight = float(f(x)[0, 1])
    if weight != 0:
        return f"a score of minus infinity gets the weight {weight:.3g}"
