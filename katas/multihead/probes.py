"""Probes and symptoms of multi-head attention: the calls that the diagnosis makes."""

import torch

from attention_katas.authoring import ask, broken, close, furthest, probe, symptom

AXES = {"x": "B T D", "num_heads": "H", "keep": "B T"}
NAMES = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o")
KEEP = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()
LEFT = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]).bool()


def _layer(draw, width, dtype=None):
    return {
        name: draw(width, width, dtype=dtype, spread=width**-0.5)
        if name[0] == "w"
        else draw(width, dtype=dtype, spread=0.5)
        for name in NAMES
    }


def _plain(width):
    eye = torch.eye(width, dtype=torch.float64)
    return {name: eye if name[0] == "w" else torch.zeros_like(eye[0]) for name in NAMES}


@probe("split_heads")
def split(draw):
    return draw(2, 5, 12), 3


@probe("split_heads")
def split_a_cube(draw):
    return draw(3, 3, 9), 3


@probe("split_heads")
def split_what_does_not_divide(draw):
    return draw(2, 5, 7), 2


@probe("merge_heads")
def merge(draw):
    return draw(2, 3, 5, 4)


@probe("merge_heads")
def merge_a_cube(draw):
    return draw(3, 3, 3, 3)


@probe("multi_head_attention")
def all_sizes_different(draw):
    return draw(2, 5, 12), _layer(draw, 12), 3


@probe("multi_head_attention")
def all_sizes_equal(draw):
    return ask(draw(4, 4, 16), _layer(draw, 16), 4, gradients=True)


@probe("multi_head_attention")
def identity_projections(draw):
    return draw(2, 5, 6), _plain(6), 2


@probe("multi_head_attention")
def causal(draw):
    return ask(draw(2, 5, 12), _layer(draw, 12), 3, causal=True)


@probe("multi_head_attention")
def padding(draw):
    return ask(draw(3, 5, 12), _layer(draw, 12), 4, keep=KEEP)


@probe("multi_head_attention")
def causal_and_padding(draw):
    return ask(draw(3, 5, 12), _layer(draw, 12), 2, causal=True, keep=KEEP)


@probe("multi_head_attention")
def queries_without_keys(draw):
    return ask(draw(3, 5, 12), _layer(draw, 12), 2, True, LEFT, gradients=True)


@probe("multi_head_attention")
def large_scores(draw):
    x, layer = draw(2, 5, 12, spread=120.0), _layer(draw, 12)
    return ask(x, layer, 3, tolerance=2e-2)


@probe("multi_head_attention")
def all_scores_high(draw):
    """Scores whose exponentials all overflow; one maximum for the whole tensor avoids that."""
    layer = _layer(draw, 12)
    layer["b_q"], layer["b_k"] = layer["b_q"] / 9 + 3, layer["b_k"] + 400
    layer["w_q"] = layer["w_q"] / 9
    return ask(draw(3, 5, 12), layer, 3, tolerance=2e-2)


@probe("multi_head_attention")
def loud_padding(draw):
    loud = torch.where(KEEP, 1.0, 5000.0)[..., None]
    return ask(draw(3, 5, 12) * loud, _layer(draw, 12), 3, keep=KEEP, tolerance=1e-3)


@probe("multi_head_attention")
def low_visible_scores(draw):
    layer = _layer(draw, 12)
    layer["b_q"], layer["b_k"] = layer["b_q"] / 9 + 3, layer["b_k"] - 2e4
    layer["w_q"] = layer["w_q"] / 9
    return ask(draw(3, 5, 12), layer, 3, keep=KEEP, tolerance=2e-2)


@probe("multi_head_attention")
def heads_apart(draw):
    layer = _layer(draw, 12)
    layer["b_q"], layer["b_k"] = layer["b_q"] + 9, layer["b_k"].clone()
    layer["b_k"][4:8] -= 300
    return ask(draw(2, 5, 12), layer, 3, causal=True, tolerance=2e-2)


@probe("multi_head_attention")
def half_precision(draw):
    layer = _layer(draw, 12, torch.float16)
    return ask(draw(3, 5, 12, dtype=torch.float16), layer, 3, keep=KEEP)


@probe("multi_head_attention")
def width_that_does_not_divide(draw):
    return draw(2, 5, 7), _layer(draw, 7), 2


@symptom("split_heads")
def where_entries_go(f, draw):
    x = torch.arange(2 * 3 * 4, dtype=torch.float64).reshape(2, 3, 4)
    heads = f(x, 2)
    if tuple(heads.shape) != (2, 2, 3, 2):
        return f"(2, 3, 4) split into 2 heads has the shape {tuple(heads.shape)}, not (2, 2, 3, 2)"
    right = x.reshape(2, 3, 2, 2).transpose(1, 2)
    if not torch.equal(heads, right):
        index, actual, expected = furthest(heads, right)
        batch, head, position, entry = index
        return (
            f"sequence {batch}, head {head}, position {position}, entry {entry} should be entry "
            f"{int(expected) % 4} of position {int(expected) // 4 % 3} of x; "
            f"yours is entry {int(actual) % 4} of position {int(actual) // 4 % 3}"
        )


@symptom("merge_heads")
def where_slices_go(f, draw):
    x = torch.arange(2 * 2 * 3 * 2, dtype=torch.float64).reshape(2, 2, 3, 2)
    merged = f(x)
    if tuple(merged.shape) != (2, 3, 4):
        return f"(2, 2, 3, 2) merged has the shape {tuple(merged.shape)}, not (2, 3, 4)"
    right = x.transpose(1, 2).flatten(2)
    if not torch.equal(merged, right):
        index, actual, expected = furthest(merged, right)
        _sequence, position, entry = index
        return (
            f"position {position}, entry {entry} should come from head {int(expected) // 6 % 2}, "
            f"position {int(expected) // 2 % 3}; yours comes from head {int(actual) // 6 % 2}, "
            f"position {int(actual) // 2 % 3}"
        )


@symptom("multi_head_attention")
def ordinary_inputs(f, draw):
    count = broken(f(draw(1, 4, 8), _layer(draw, 8), 2))
    if count:
        return f"for ordinary inputs, {count} outputs are not finite"


@symptom("multi_head_attention")
def future(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8)
    before = f(x, layer, 2, causal=True)
    x = x.clone()
    x[:, 3] += 3
    after = f(x, layer, 2, causal=True)
    if not close(after[:, :3], before[:, :3]):
        index, actual, expected = furthest(after[:, :3], before[:, :3])
        return (
            f"causal: changing position 3 changes the output of position {index[1]} "
            f"from {expected:.3g} to {actual:.3g}"
        )


@symptom("multi_head_attention")
def ten_more_of_padding(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8)
    before = f(x, layer, 2)
    longer = torch.cat([x, draw(1, 10, 8)], 1)
    after = f(longer, layer, 2, keep=torch.arange(14)[None] < 4)[:, :4]
    if not close(after, before):
        _index, actual, expected = furthest(after, before)
        return (
            "adding 10 padding positions changes the output of a real position "
            f"from {expected:.3g} to {actual:.3g}"
        )


@symptom("multi_head_attention", values=False)
def batch_is_apart(f, draw):
    x, layer = draw(3, 4, 8), _layer(draw, 8)
    if not close(f(x[1:2], layer, 2), f(x, layer, 2)[1:2]):
        return "a sequence gives different results alone and in a batch"


@symptom("multi_head_attention")
def reads_its_weights(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8)
    before = f(x, layer, 2)
    for name in NAMES:
        if name != "b_k" and close(f(x, {**layer, name: layer[name] + 1}, 2), before):
            return f"the result does not depend on {name}"


@symptom("multi_head_attention", values=False)
def constant_values(f, draw):
    """A blend of equal values is that value, whatever the weights."""
    layer = _layer(draw, 8)
    layer["w_v"] = layer["w_v"] * 0
    layer["w_o"], layer["b_o"] = torch.eye(8, dtype=layer["w_o"].dtype), layer["b_o"] * 0
    right = layer["b_v"]
    out = f(draw(1, 4, 8), layer, 2)
    if not close(out, right.expand(out.shape)):
        return "with w_v = 0 every value is b_v, so every blend should be b_v; yours is not"


@symptom("multi_head_attention", values=False)
def order_of_positions(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8)
    if not close(f(x.flip(1), layer, 2), f(x, layer, 2).flip(1)):
        return (
            "reordering the positions changes more than the order of the outputs (without a mask)"
        )


@symptom("multi_head_attention", values=False)
def heads_do_not_meet(f, draw):
    x, layer = draw(1, 4, 8), _layer(draw, 8)
    layer["w_o"] = torch.eye(8, dtype=x.dtype)
    before = f(x, layer, 2)
    changed = {**layer, "w_q": layer["w_q"].clone()}
    changed["w_q"][4:] += 1
    after = f(x, changed, 2)
    if not close(after[..., :4], before[..., :4]):
        return "changing w_q of head 1 changes the output of head 0"


@symptom("multi_head_attention")
def empty(f, draw):
    layer = _layer(draw, 8)
    out = f(draw(1, 4, 8), layer, 2, keep=torch.zeros(1, 4, dtype=torch.bool))
    if not close(out, layer["b_o"].expand(out.shape)):
        value = "NaN" if bool(out.isnan().any()) else "something else"
        return f"where every key is padding, the output is {value} instead of b_o"


@symptom("multi_head_attention")
def large_scores_survive(f, draw):
    count = broken(f(draw(1, 4, 8) * 100, _layer(draw, 8), 2))
    if count:
        return f"for scores in the thousands, {count} outputs are not finite"
