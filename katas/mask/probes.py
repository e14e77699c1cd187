"""Probes and symptoms of masks and attention: the calls that the diagnosis makes."""

import torch

from attention_katas.authoring import ask, broken, close, furthest, probe, symptom

AXES = {
    "scores": "B H T_q T_k",
    "keep": "B T_k",
    "q": "B H T_q d_k",
    "k": "B H T_k d_k",
    "v": "B H T_k d_v",
    "t_q": "T_q",
    "t_k": "T_k",
}
KEEP = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0]]).bool()
LEFT = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 0, 1, 0]]).bool()


@probe("causal_mask")
def a_square_mask(draw):
    return ask(4, 4)


@probe("causal_mask")
def a_wide_mask(draw):
    return ask(3, 6)


@probe("causal_mask")
def a_tall_mask(draw):
    return ask(6, 3)


@probe("causal_mask")
def a_large_mask(draw):
    return ask(3, 4200)


@probe("masked_weights")
def square_scores(draw):
    return ask(draw(4, 4, 4, 4), gradients=True)


@probe("masked_weights")
def wide_scores(draw):
    return draw(2, 3, 4, 6)


@probe("masked_weights")
def tall_scores(draw):
    return draw(2, 3, 6, 4)


@probe("masked_weights")
def padding(draw):
    return [(draw(2, 3, 5, 5), KEEP), (draw(2, 3, 4, 5), KEEP), (draw(2, 3, 6, 5), KEEP)]


@probe("masked_weights")
def queries_without_keys(draw):
    return ask(draw(2, 3, 5, 5), LEFT, gradients=True)


@probe("masked_weights")
def towering_future(draw):
    scores = draw(2, 2, 4, 4)
    return ask(scores + 1000 * torch.ones(4, 4).triu(1), tolerance=1e-3)


@probe("masked_weights")
def low_scores(draw):
    return ask(draw(2, 2, 4, 5) - 2e4, tolerance=1e-2)


@probe("masked_weights")
def heads_apart(draw):
    return ask(draw(2, 2, 4, 5) + 800 * torch.arange(2.0)[:, None, None], tolerance=1e-3)


@probe("masked_weights")
def half_precision(draw):
    return draw(2, 3, 4, 5, dtype=torch.float16)


@probe("masked_weights")
def another_length(draw):
    return [draw(1, 2, 5, 5), draw(1, 2, 3, 3), (draw(1, 2, 5, 5), KEEP[:1]), draw(1, 2, 5, 5)]


@symptom("masked_weights")
def ordinary_scores(f, draw):
    count = broken(f(draw(1, 1, 4, 4)))
    if count:
        return f"for ordinary scores, {count} weights are not finite"


@symptom("masked_weights")
def future(f, draw):
    weights = f(draw(1, 1, 4, 4))[0, 0]
    seen = (weights.triu(1) != 0).nonzero().tolist()
    if seen:
        row, column = seen[0]
        return f"query {row} attends to key {column}, which is in its future"


@symptom("masked_weights")
def past(f, draw):
    weights = f(draw(1, 1, 4, 4))[0, 0]
    unseen = [(i, j) for i in range(4) for j in range(i + 1) if weights[i, j] == 0]
    if unseen:
        i, j = unseen[0]
        return f"query {i} gives no weight to key {j}, to which it may attend"


@symptom("masked_weights")
def sums(f, draw):
    row_sums = f(draw(1, 1, 4, 4)).sum(-1)
    index, actual, _ = furthest(row_sums, torch.ones_like(row_sums))
    if abs(actual - 1) > 1e-4:
        return f"row {index[-1]} of the weights sums to {actual:.3g}, not to 1"


@symptom("masked_weights")
def padding_gets_nothing(f, draw):
    weights = f(draw(2, 1, 5, 5), KEEP)
    heaviest = float(weights[0, 0, :, 3].max())
    if heaviest > 0:
        return f"key 3 of sequence 0 is padding and gets the weight {heaviest:.3g}"


@symptom("masked_weights")
def empty_rows(f, draw):
    row = f(draw(2, 1, 5, 5), LEFT)[0, 0, 0]
    if not bool((row == 0).all()):
        value = "NaN" if bool(row.isnan().any()) else f"{float(row.abs().max()):.3g}"
        return f"a query whose keys are all masked gets {value} instead of zeros"


@symptom("masked_weights")
def shift(f, draw):
    scores = draw(1, 1, 4, 4)
    before, after = f(scores), f(scores + 3)
    if not close(before, after):
        _index, actual, expected = furthest(after, before)
        return f"adding 3 to every score changes a weight from {expected:.3g} to {actual:.3g}"


@symptom("masked_weights")
def ratio(f, draw):
    weights = f(torch.tensor([[0.0, 1.0], [0.0, 1.0]], dtype=torch.float64)[None, None])[0, 0, 1]
    quotient = float(weights[1] / weights[0])
    if abs(quotient - 2.71828) > 1e-3:
        return (
            f"a score that is higher by 1 gets {quotient:.3g} times the weight; "
            "exponentials give it 2.72 times the weight"
        )


@symptom("masked_weights")
def survives(f, draw):
    scores = draw(1, 1, 4, 4)
    for case, changed in (
        ("the masked scores 1000 higher", scores + 1000 * torch.ones(4, 4).triu(1)),
        ("all scores at -20000", scores - 2e4),
    ):
        row_sums = f(changed).sum(-1)
        if not close(row_sums, torch.ones_like(row_sums), 1e-3):
            return f"with {case}, the weights of a row do not sum to 1"


@probe("scaled_dot_product_attention")
def a_cube(draw):
    return ask(draw(4, 4, 4, 4), draw(4, 4, 4, 4), draw(4, 4, 4, 4), gradients=True)


@probe("scaled_dot_product_attention")
def a_cube_without_mask(draw):
    return ask(draw(4, 4, 4, 4), draw(4, 4, 4, 4), draw(4, 4, 4, 4), causal=False)


@probe("scaled_dot_product_attention")
def more_keys(draw):
    return draw(2, 3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 7)


@probe("scaled_dot_product_attention")
def more_queries(draw):
    return draw(2, 3, 6, 5), draw(2, 3, 4, 5), draw(2, 3, 4, 7)


@probe("scaled_dot_product_attention")
def no_mask(draw):
    return ask(draw(2, 3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 7), causal=False)


@probe("scaled_dot_product_attention")
def a_square_of_another_width(draw):
    return draw(2, 3, 5, 8), draw(2, 3, 5, 8), draw(2, 3, 5, 8)


@probe("scaled_dot_product_attention")
def large_scores(draw):
    q, k, v = draw(2, 2, 4, 8, spread=60.0), draw(2, 2, 5, 8, spread=60.0), draw(2, 2, 5, 3)
    return ask(q, k, v, tolerance=2e-2)


@probe("scaled_dot_product_attention")
def rows_apart(draw):
    louder = torch.tensor([1.0, 40.0, -40.0])[:, None]
    q, k, v = draw(2, 2, 3, 4) * louder, draw(2, 2, 3, 4) + 9, draw(2, 2, 3, 4)
    return ask(q, k, v, tolerance=2e-2)


@probe("scaled_dot_product_attention")
def all_scores_high(draw):
    """Scores whose exponentials all overflow; one maximum for the whole tensor avoids that."""
    q, k = draw(2, 2, 3, 4) / 9 + 3, draw(2, 2, 3, 4) + 400
    return ask(q, k, draw(2, 2, 3, 4), tolerance=2e-2)


@probe("scaled_dot_product_attention")
def a_loud_future(draw):
    louder = torch.tensor([1.0, 1, 1, 1000, 1000])[:, None]
    return ask(draw(2, 2, 3, 4), draw(2, 2, 5, 4) * louder, draw(2, 2, 5, 3), tolerance=1e-3)


@probe("scaled_dot_product_attention")
def low_visible_scores(draw):
    q, k = draw(2, 2, 3, 4) / 9 + 3, draw(2, 2, 3, 4) - 2e4
    return ask(q, k, draw(2, 2, 3, 4), tolerance=2e-2)


@probe("scaled_dot_product_attention")
def half(draw):
    return tuple(draw(2, 3, 4, 8, dtype=torch.float16) for _ in range(3))


@probe("scaled_dot_product_attention")
def as_low_as_it_goes(draw):
    q, k = torch.full((2, 2, 1, 4), 60.0), torch.full((2, 2, 5, 4), -200.0)
    return ask(q.half(), k.half(), draw(2, 2, 5, 3).half())


def _weights(f, scores, causal):
    """The attention weights (T_q, T_k) of `scores` (1, 1, T_q, T_k): keys and values are identity
    matrices, so the output is the weights."""
    size = scores.size(-1)
    eye = torch.eye(size, dtype=scores.dtype)[None, None]
    return f(scores * size**0.5, eye, eye, causal=causal)[0, 0]


@symptom("scaled_dot_product_attention")
def ordinary_inputs(f, draw):
    count = broken(f(draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)))
    if count:
        return f"for ordinary inputs, {count} outputs are not finite"


@symptom("scaled_dot_product_attention")
def attention_future(f, draw):
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    before = f(q, k, v)
    later = torch.tensor([0.0, 0, 0, 3])[:, None]
    after = f(q, k + later, v - later)
    if not close(after[:, :, :3], before[:, :, :3]):
        index, actual, expected = furthest(after[:, :, :3], before[:, :, :3])
        return (
            f"changing word 3 changes the output of word {index[2]} "
            f"from {expected:.3g} to {actual:.3g}"
        )


@symptom("scaled_dot_product_attention")
def attention_sums(f, draw):
    ones = f(draw(1, 2, 4, 4), draw(1, 2, 4, 4), torch.ones(1, 2, 4, 1, dtype=torch.float64))
    index, actual, _ = furthest(ones, torch.ones_like(ones))
    if abs(actual - 1) > 1e-4:
        return f"the weights of query {index[2]} sum to {actual:.3g}, not to 1 (causal)"


@symptom("scaled_dot_product_attention")
def attention_sums_without_mask(f, draw):
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), torch.ones(1, 2, 4, 1, dtype=torch.float64)
    ones = f(q, k, v, causal=False)
    index, actual, _ = furthest(ones, torch.ones_like(ones))
    if abs(actual - 1) > 1e-4:
        return f"the weights of query {index[2]} sum to {actual:.3g}, not to 1 (without a mask)"


@symptom("scaled_dot_product_attention", values=False)
def outputs_depend_on_queries(f, draw):
    k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    first, second = f(draw(1, 2, 4, 4), k, v, causal=False), f(draw(1, 2, 4, 4), k, v, causal=False)
    if close(first, second):
        return "the outputs do not depend on the queries"


@symptom("scaled_dot_product_attention")
def effective_scale(f, draw):
    scores = torch.tensor([[0.0, 1.0, 2.0, 3.0]], dtype=torch.float64)[None, None]
    weights = _weights(f, scores, False)[0]
    steps = weights[1:] / weights[:-1]
    if abs(float(weights.sum()) - 1) > 1e-4:
        return None
    if not close(steps, steps.mean() + 0 * steps) or not bool((weights > 0).all()):
        return None
    factor = float(steps.log().mean()) / 2
    if abs(factor - 0.5) > 1e-3:
        return f"the dot products are multiplied by {factor:.3g} for d_k = 4; 1/sqrt(d_k) is 0.5"


@symptom("scaled_dot_product_attention")
def twins(f, draw):
    """Repeating every key and value halves the weights and leaves the blend equal."""
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    once = f(q, k, v, causal=False)
    twice = f(q, k.repeat(1, 1, 2, 1), v.repeat(1, 1, 2, 1), causal=False)
    if not close(once, twice):
        _index, actual, expected = furthest(twice, once)
        return (
            f"repeating every key and value changes an output from {expected:.3g} to {actual:.3g}"
        )


@symptom("scaled_dot_product_attention", values=False)
def order_of_keys(f, draw):
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    if not close(f(q, k.flip(2), v.flip(2), causal=False), f(q, k, v, causal=False)):
        return "reordering keys and values together changes the outputs (without a mask)"


@symptom("scaled_dot_product_attention")
def between_the_values(f, draw):
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    out = f(q, k, v, causal=False)
    low, high = v.amin(2, keepdim=True), v.amax(2, keepdim=True)
    outside = (out < low - 1e-6) | (out > high + 1e-6)
    if bool(outside.any()):
        index = outside.nonzero()[0].tolist()
        head = (0, index[1], 0, index[3])
        return (
            f"an output of {float(out[tuple(index)]):.3g} is outside the range of the values "
            f"({float(low[head]):.3g} to {float(high[head]):.3g})"
        )


@symptom("scaled_dot_product_attention", values=False)
def heads_are_apart(f, draw):
    q, k, v = draw(1, 2, 4, 4), draw(1, 2, 4, 4), draw(1, 2, 4, 4)
    before = f(q, k, v)
    q = q.clone()
    q[:, 1] += 1.0
    if not close(f(q, k, v)[:, 0], before[:, 0]):
        return "changing the queries of head 1 changes the outputs of head 0"


@symptom("scaled_dot_product_attention")
def large_scores_survive(f, draw):
    q, k, v = draw(1, 2, 4, 4) * 90, draw(1, 2, 4, 4) * 90, draw(1, 2, 4, 4)
    count = broken(f(q, k, v))
    if count:
        return f"for scores in the thousands, {count} outputs are not finite"


@symptom("causal_mask")
def first_wrong_cell(f, draw):
    for rows, columns in ((4, 4), (3, 6), (6, 3)):
        mask = f(rows, columns)
        right = torch.ones(rows, columns, dtype=torch.bool).tril()
        if tuple(mask.shape) != (rows, columns):
            return (
                f"for {rows} queries and {columns} keys the mask has the shape {tuple(mask.shape)}"
            )
        if mask.dtype is not torch.bool:
            return f"the mask has the dtype {str(mask.dtype).removeprefix('torch.')}, not bool"
        wrong = (mask != right).nonzero().tolist()
        if wrong:
            i, j = wrong[0]
            verb = "may attend to" if bool(mask[i, j]) else "may not attend to"
            return f"for {rows} queries and {columns} keys, query {i} {verb} key {j}"
