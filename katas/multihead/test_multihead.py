"""Hidden tests of the multihead kata.

Batch, heads, positions and widths all differ, so that a view in the place of a transpose, or a
softmax along the wrong axis, cannot go unseen.
"""

import pytest
import torch

NAMES = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o")


@pytest.fixture
def layer(draw):
    """Random weights in nn.Linear layout, of a spread that keeps the projections near one."""

    def make(width, dtype=None):
        shapes = ((width, width) if name[0] == "w" else (width,) for name in NAMES)
        return {
            name: draw(*shape, dtype=dtype, spread=width**-0.5 if name[0] == "w" else 0.5)
            for name, shape in zip(NAMES, shapes, strict=True)
        }

    return make


@pytest.fixture
def plain(draw):
    """Projections that change nothing, so that what is shown is attention itself."""

    def make(width):
        found = {name: torch.eye(width, dtype=draw.precise) for name in NAMES}
        return {n: w if n[0] == "w" else torch.zeros_like(w[0]) for n, w in found.items()}

    return make


def test_splitting(solution, draw, agree):
    """split_heads: each head gets its own slice of every position"""
    agree(solution.split_heads, draw(2, 5, 12), 3)
    agree(solution.split_heads, draw(2, 5, 12), 4)
    agree(solution.split_heads, draw(3, 3, 9), 3)


def test_splitting_at_the_ends(solution, draw, agree):
    """split_heads: one head, and as many heads as entries"""
    agree(solution.split_heads, draw(2, 5, 6), 1)
    agree(solution.split_heads, draw(2, 5, 6), 6)
    agree(solution.split_heads, draw(1, 1, 6), 2)


def test_merging(solution, draw, agree):
    """merge_heads: concatenates the slices of all heads"""
    agree(solution.merge_heads, draw(2, 3, 5, 4))
    agree(solution.merge_heads, draw(3, 3, 3, 3))
    agree(solution.merge_heads, draw(2, 1, 5, 4))


def test_attention_alone(solution, draw, agree, plain):
    """attention: every head attends by itself (identity projections)"""
    for causal in (False, True):
        x = draw(2, 5, 6)
        agree(solution.multi_head_attention, x, plain(6), 2, causal=causal, gradients=False)


def test_attention_with_heads(solution, draw, agree, layer):
    """attention: projects to queries, keys and values, and projects the result"""
    agree(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3)
    agree(solution.multi_head_attention, draw(3, 4, 12), layer(12), 2)
    backwards = dict(reversed(layer(12).items()))
    agree(solution.multi_head_attention, draw(1, 4, 12), backwards, 2)


def test_other_numbers_of_heads(solution, draw, agree, layer):
    """attention: one head, as many heads as entries, a single position"""
    for heads in (1, 6):
        agree(solution.multi_head_attention, draw(2, 5, 6), layer(6), heads)
    agree(solution.multi_head_attention, draw(2, 1, 6), layer(6), 3)


def test_all_sizes_equal(solution, draw, agree, layer):
    """attention: is also right when batch, heads, positions and slices have one size"""
    agree(solution.multi_head_attention, draw(4, 4, 16), layer(16), 4)


def test_causal(solution, draw, agree, layer):
    """attention: causal, no position attends to a later one"""
    agree(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3, causal=True)
    agree(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3, True)


def test_padding(solution, draw, agree, layer):
    """attention: padding gets weight zero; each sequence of the batch has its own padding"""
    keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 1, 0]]).bool()
    agree(solution.multi_head_attention, draw(3, 5, 12), layer(12), 4, keep=keep)
    agree(solution.multi_head_attention, draw(3, 5, 12), layer(12), 2, False, keep)


def test_padding_and_causal(solution, draw, agree, layer):
    """attention: causal mask and padding; a query whose keys are all masked gets b_o"""
    keep = torch.tensor([[1, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0]]).bool()
    agree(solution.multi_head_attention, draw(3, 5, 12), layer(12), 4, causal=True, keep=keep)
    agree(solution.multi_head_attention, draw(3, 5, 12), layer(12), 2, keep=keep)
    for same in (keep | True, keep & False):
        agree(solution.multi_head_attention, draw(3, 5, 12), layer(12), 2, causal=True, keep=same)


@pytest.mark.law("split_heads", "multi_head_attention")
def test_a_width_that_does_not_divide(solution, draw, layer, refuses):
    """Raises ValueError when num_heads does not divide the width"""
    refuses(solution.split_heads, ValueError, draw(2, 5, 7), 2)
    refuses(solution.split_heads, ValueError, draw(2, 5, 4), 8)
    refuses(solution.multi_head_attention, ValueError, draw(2, 5, 7), layer(7), 2)
    refuses(solution.multi_head_attention, ValueError, draw(2, 5, 8), layer(8), 3)
    refuses(solution.multi_head_attention, ValueError, draw(2, 6, 7), layer(7), 2)


def test_large_scores(solution, draw, agree, layer):
    """attention: stays finite for scores in the thousands"""
    agree(
        solution.multi_head_attention,
        draw(2, 5, 12, spread=120.0),
        layer(12),
        3,
        gradients=False,
        tolerance=2e-2,
    )


def test_loud_padding(solution, draw, agree, layer):
    """attention: masks padding and later words that are thousands of times larger"""
    keep = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]]).bool()
    loud = draw(2, 5, 12) * torch.where(keep, 1.0, 5000.0)[..., None]
    agree(solution.multi_head_attention, loud, layer(12), 3, keep=keep, tolerance=1e-3)
    loud = draw(2, 5, 12) * torch.tensor([1.0, 1, 1, 5000, 5000])[:, None]
    agree(solution.multi_head_attention, loud, layer(12), 3, causal=True, tolerance=1e-3)


def test_very_low_scores(solution, draw, agree, layer):
    """attention: scores that are not masked may be very low"""
    # Entries of q near 3 and of k near -20000: scores near -120000, a few apart.
    weights = layer(12)
    weights["b_q"], weights["b_k"] = weights["b_q"] / 9 + 3, weights["b_k"] - 2e4
    weights["w_q"] = weights["w_q"] / 9
    keep = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0]]).bool()
    for rules in ({"keep": keep}, {"causal": True}):
        x = draw(2, 5, 12)
        agree(
            solution.multi_head_attention, x, weights, 3, gradients=False, tolerance=2e-2, **rules
        )
    # One key that may be read, as low as the dtypes go.
    alone = torch.tensor([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]]).bool()
    for dtype, high, low in ((torch.float32, 1e18, -1e18), (torch.float16, 60.0, -200.0)):
        x, weights = draw(2, 5, 12, dtype=dtype), layer(12, dtype)
        weights |= {"w_q": weights["w_q"] * 0, "w_k": weights["w_k"] * 0}
        weights |= {"b_q": weights["b_q"] * 0 + high, "b_k": weights["b_k"] * 0 + low}
        agree(solution.multi_head_attention, x, weights, 3, keep=alone, gradients=False)


def test_heads_far_apart(solution, draw, agree, layer):
    """attention: scores of sequences, positions and heads may be far apart"""
    weights = layer(12)
    weights["b_q"], weights["b_k"] = weights["b_q"] + 9, weights["b_k"].clone()
    weights["b_k"][4:8] -= 300
    x = draw(2, 5, 12)
    agree(solution.multi_head_attention, x, weights, 3, causal=True, tolerance=2e-2)


def test_other_dtypes(solution, draw, agree, layer, dtypes):
    """Returns the dtype of its input, also in half precision"""
    for dtype in dtypes:
        agree(solution.split_heads, draw(2, 5, 12, dtype=dtype), 3)
        agree(solution.multi_head_attention, draw(2, 5, 12, dtype=dtype), layer(12, dtype), 3)
        x, weights = draw(2, 5, 12, dtype=dtype), layer(12, dtype)
        keep = torch.tensor([[1, 1, 1, 0, 1], [0, 0, 1, 1, 1]]).bool()
        agree(solution.multi_head_attention, x, weights, 3, causal=True, keep=keep)
        agree(solution.multi_head_attention, x, weights, 3, keep=keep & keep[:1])
        agree(solution.multi_head_attention, x, weights, 3, keep=keep & ~keep[:1])


def test_any_memory_layout(solution, draw, agree, layer):
    """Accepts inputs of any memory layout"""
    agree(solution.split_heads, draw(5, 2, 12).transpose(0, 1), 3)
    agree(solution.merge_heads, draw(2, 5, 3, 4).transpose(1, 2))
    agree(solution.multi_head_attention, draw(5, 2, 12).transpose(0, 1), layer(12), 3)
    turned = {n: w.t().contiguous().t() for n, w in layer(12).items()}
    keep = torch.tensor([[1, 0], [1, 1], [0, 1], [1, 1], [1, 0]]).bool().t()
    agree(solution.multi_head_attention, draw(2, 5, 12), turned, 3, keep=keep)


def test_a_second_call(solution, draw, agree, layer):
    """Keeps no state between calls of different sizes or padding"""
    for length, width, heads in ((5, 12, 3), (3, 8, 2), (5, 12, 3)):
        x = draw(2, length, width)
        agree(solution.multi_head_attention, x, layer(width), heads, causal=True)
        keep = draw.order(length).expand(2, length) > 1
        for rules in ((False, keep), (True, ~keep), (False, ~keep), (False,)):
            agree(solution.multi_head_attention, x, layer(width), heads, *rules)


@pytest.mark.law("split_heads", "merge_heads")
def test_there_and_back(solution, draw, same):
    """Law: merge_heads undoes split_heads"""
    x = draw(2, 5, 12)
    merged = solution.merge_heads(solution.split_heads(x, 3))
    same(merged, x, "merge_heads(split_heads(x)) is not x")


@pytest.mark.law("multi_head_attention")
def test_heads_do_not_meet(solution, draw, layer, same):
    """Law: changing the slice of one head changes no other head"""
    weights, x = layer(12), draw(2, 5, 12)
    weights["w_o"] = torch.eye(12, dtype=x.dtype)
    before = solution.multi_head_attention(x, weights, 3)
    changed = {**weights, "w_q": weights["w_q"].clone(), "w_v": weights["w_v"].clone()}
    changed["w_q"][8:] += 1.0
    changed["w_v"][8:] += 1.0
    after = solution.multi_head_attention(x, changed, 3)
    same(after[..., :8], before[..., :8], "changing the last head changed the others")


@pytest.mark.law("multi_head_attention")
def test_order_of_positions(solution, draw, layer, same):
    """Law: reordering the positions reorders the outputs (without the mask)"""
    weights, x, order = layer(12), draw(2, 5, 12), draw.order(5)
    same(
        solution.multi_head_attention(x[:, order], weights, 3),
        solution.multi_head_attention(x, weights, 3)[:, order],
        "reordering the positions changed more than the order of the outputs",
    )


@pytest.mark.law("multi_head_attention")
def test_padding_is_silent(solution, draw, layer, same):
    """Law: changing the padding changes nothing"""
    weights, x = layer(12), draw(2, 5, 12)
    keep = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]).bool()
    noisy = x + 9 * (~keep)[..., None]
    before = solution.multi_head_attention(x, weights, 3, keep=keep)
    after = solution.multi_head_attention(noisy, weights, 3, keep=keep)
    same(after[keep], before[keep], "changing the padding changed outputs of real positions")


@pytest.mark.law("multi_head_attention")
def test_the_batch_is_apart(solution, draw, layer, same):
    """Law: sequences of a batch do not affect each other"""
    weights, x = layer(12), draw(3, 5, 12)
    same(
        solution.multi_head_attention(x[1:2], weights, 3),
        solution.multi_head_attention(x, weights, 3)[1:2],
        "a sequence gives different results alone and in a batch",
    )


@pytest.mark.law("split_heads", "merge_heads", "multi_head_attention")
def test_follows_the_device(solution, draw, layer, follows_device):
    """Creates every tensor on the device of its inputs"""
    follows_device(solution.split_heads, draw(2, 5, 12), 3)
    follows_device(solution.merge_heads, draw(2, 3, 5, 4))
    keep = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]).bool()
    follows_device(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3, keep=keep)
    follows_device(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3, True, keep)
    follows_device(solution.multi_head_attention, draw(2, 5, 12), layer(12), 3, causal=True)
