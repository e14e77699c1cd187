"""Probes and symptoms of cross-attention: the calls that the diagnosis makes."""

import torch

from attention_katas.authoring import ask, broken, close, furthest, probe, symptom

AXES = {"x": "B T_q D", "context": "B T_k D_c", "num_heads": "H", "keep": "B T_k"}
NAMES = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o")
KEEP = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()
EMPTY = torch.tensor([[0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [1, 1, 1, 1, 1]]).bool()


def _layer(draw, width, context_width, dtype=None):
    layer = {}
    for name in NAMES:
        inner = context_width if name in ("w_k", "w_v") else width
        layer[name] = (
            draw(width, inner, dtype=dtype, spread=inner**-0.5)
            if name[0] == "w"
            else draw(width, dtype=dtype, spread=0.5)
        )
    return layer


@probe("cross_attention")
def all_sizes_equal(draw):
    return ask(draw(4, 4, 16), draw(4, 4, 16), _layer(draw, 16, 16), 4, gradients=True)


@probe("cross_attention")
def same_length_and_width(draw):
    return draw(2, 5, 8), draw(2, 5, 8), _layer(draw, 8, 8), 2


@probe("cross_attention")
def a_longer_context(draw):
    return draw(2, 3, 8), draw(2, 5, 6), _layer(draw, 8, 6), 2


@probe("cross_attention")
def a_shorter_context(draw):
    return draw(2, 5, 8), draw(2, 3, 6), _layer(draw, 8, 6), 4


@probe("cross_attention")
def same_width(draw):
    return draw(2, 3, 8), draw(2, 5, 8), _layer(draw, 8, 8), 4


@probe("cross_attention")
def padding(draw):
    return [
        (draw(3, 4, 8), draw(3, 5, 6), _layer(draw, 8, 6), 2, KEEP),
        (draw(3, 5, 8), draw(3, 5, 6), _layer(draw, 8, 6), 4, KEEP),
    ]


@probe("cross_attention")
def an_empty_context(draw):
    return ask(draw(3, 4, 8), draw(3, 5, 6), _layer(draw, 8, 6), 2, EMPTY, gradients=True)


@probe("cross_attention")
def large_scores(draw):
    x, context = draw(2, 3, 8, spread=120.0), draw(2, 5, 6, spread=120.0)
    return ask(x, context, _layer(draw, 8, 6), 2, tolerance=2e-2)


@probe("cross_attention")
def queries_far_apart(draw):
    x = draw(2, 3, 8) * torch.tensor([1.0, 60.0, -60.0])[:, None]
    layer = _layer(draw, 8, 6)
    layer["b_k"] = layer["b_k"] + 9
    return ask(x, draw(2, 5, 6), layer, 2, tolerance=2e-2)


@probe("cross_attention")
def all_scores_high(draw):
    """Scores whose exponentials all overflow; one maximum for the whole tensor avoids that."""
    layer = _layer(draw, 8, 6)
    layer["b_q"], layer["b_k"] = layer["b_q"] / 9 + 3, layer["b_k"] + 400
    layer["w_q"] = layer["w_q"] / 9
    return ask(draw(2, 3, 8), draw(2, 5, 6), layer, 2, tolerance=2e-2)


@probe("cross_attention")
def loud_padding(draw):
    loud = torch.where(KEEP, 1.0, 5000.0)[..., None]
    x, context = draw(3, 3, 8), draw(3, 5, 6) * loud
    return ask(x, context, _layer(draw, 8, 6), 2, KEEP, tolerance=1e-3)


@probe("cross_attention")
def low_visible_scores(draw):
    layer = _layer(draw, 8, 6)
    layer["b_q"], layer["b_k"] = layer["b_q"] / 9 + 3, layer["b_k"] - 2e4
    layer["w_q"] = layer["w_q"] / 9
    x, context = draw(3, 3, 8), draw(3, 5, 6)
    return ask(x, context, layer, 2, KEEP, tolerance=2e-2)


@probe("cross_attention")
def heads_apart(draw):
    layer = _layer(draw, 8, 6)
    layer["b_q"], layer["b_k"] = layer["b_q"] + 9, layer["b_k"].clone()
    layer["b_k"][4:] -= 300
    return ask(draw(2, 3, 8), draw(2, 5, 6), layer, 2, tolerance=2e-2)


@probe("cross_attention")
def half_precision(draw):
    layer = _layer(draw, 8, 6, torch.float16)
    x, context = draw(3, 3, 8, dtype=torch.float16), draw(3, 5, 6, dtype=torch.float16)
    return x, context, layer, 2, KEEP


@probe("cross_attention")
def a_width_that_does_not_divide(draw):
    return draw(2, 3, 9), draw(2, 5, 6), _layer(draw, 9, 6), 2


@symptom("cross_attention")
def ordinary_inputs(f, draw):
    count = broken(f(draw(1, 4, 8), draw(1, 4, 8), _layer(draw, 8, 8), 2))
    if count:
        return f"for ordinary inputs, {count} outputs are not finite"


@symptom("cross_attention", values=False)
def depends_on_the_context(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8, 8)
    out = f(x, draw(1, 4, 8), layer, 2)
    if not broken(out) and close(out, f(x, draw(1, 4, 8), layer, 2)):
        return "the outputs do not depend on the context"


@symptom("cross_attention", values=False)
def depends_on_the_question(f, draw):
    context, layer = draw(1, 4, 8), _layer(draw, 8, 8)
    out = f(draw(1, 4, 8), context, layer, 2)
    if not broken(out) and close(out, f(draw(1, 4, 8), context, layer, 2)):
        return "the outputs do not depend on x"


@symptom("cross_attention")
def ten_more_of_padding(f, draw):
    x, context, layer = draw(1, 4, 8), draw(1, 4, 8), _layer(draw, 8, 8)
    before = f(x, context, layer, 2)
    longer = torch.cat([context, draw(1, 10, 8)], 1)
    after = f(x, longer, layer, 2, torch.arange(14)[None] < 4)
    if not close(after, before):
        _index, actual, expected = furthest(after, before)
        return (
            "adding 10 padding positions to the context changes an output "
            f"from {expected:.3g} to {actual:.3g}"
        )


@symptom("cross_attention", values=False)
def order_of_the_context(f, draw):
    x, context, layer = draw(1, 4, 8), draw(1, 4, 8), _layer(draw, 8, 8)
    if not close(f(x, context.flip(1), layer, 2), f(x, context, layer, 2)):
        return "reordering the context changes the outputs"


@symptom("cross_attention", values=False)
def queries_are_apart(f, draw):
    x, context, layer = draw(1, 4, 8), draw(1, 4, 8), _layer(draw, 8, 8)
    before = f(x, context, layer, 2)
    x = x.clone()
    x[:, 3] += 1
    if not close(f(x, context, layer, 2)[:, :3], before[:, :3]):
        return "changing query 3 changes the outputs of other queries"


@symptom("cross_attention")
def reads_its_weights(f, draw):
    x, context, layer = draw(1, 4, 8), draw(1, 4, 8), _layer(draw, 8, 8)
    before = f(x, context, layer, 2)
    for name in NAMES:
        if name != "b_k" and close(f(x, context, {**layer, name: layer[name] + 1}, 2), before):
            return f"the result does not depend on {name}"


@symptom("cross_attention", values=False)
def constant_values(f, draw):
    """A blend of equal values is that value, whatever the weights."""
    layer = _layer(draw, 8, 8)
    layer["w_v"] = layer["w_v"] * 0
    layer["w_o"], layer["b_o"] = torch.eye(8, dtype=layer["w_o"].dtype), layer["b_o"] * 0
    right = layer["b_v"]
    out = f(draw(1, 4, 8), draw(1, 4, 8), layer, 2)
    if not close(out, right.expand(out.shape)):
        return "with w_v = 0 every value is b_v, so every blend should be b_v; yours is not"


@symptom("cross_attention", values=False)
def batch_is_apart(f, draw):
    x, context, layer = draw(3, 4, 8), draw(3, 4, 8), _layer(draw, 8, 8)
    if not close(f(x[1:2], context[1:2], layer, 2), f(x, context, layer, 2)[1:2]):
        return "a sequence gives different results alone and in a batch"


@symptom("cross_attention")
def empty(f, draw):
    layer = _layer(draw, 8, 8)
    out = f(draw(1, 4, 8), draw(1, 4, 8), layer, 2, torch.zeros(1, 4, dtype=torch.bool))
    if not close(out, layer["b_o"].expand(out.shape)):
        value = "NaN" if bool(out.isnan().any()) else "something else"
        return f"where all of the context is padding, the output is {value} instead of b_o"


@symptom("cross_attention")
def large_scores_survive(f, draw):
    out = f(draw(1, 4, 8) * 100, draw(1, 4, 8) * 100, _layer(draw, 8, 8), 2)
    count = broken(out)
    if count:
        return f"for scores in the thousands, {count} outputs are not finite"
