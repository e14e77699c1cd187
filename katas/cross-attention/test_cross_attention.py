"""Hidden tests of the cross-attention kata.

x and context differ in length and width wherever they can, so that one cannot stand in for the
other; one check has all sizes equal, so that it can, and is seen by its values.
"""

import pytest
import torch

NAMES = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o")


@pytest.fixture
def layer(draw):
    """Random weights in nn.Linear layout: width of x, width of the context."""

    def make(width, other, dtype=None):
        found = {}
        for name in NAMES:
            inner = other if name in ("w_k", "w_v") else width
            shape = (width, inner) if name[0] == "w" else (width,)
            spread = inner**-0.5 if name[0] == "w" else 0.5
            found[name] = draw(*shape, dtype=dtype, spread=spread)
        return found

    return make


@pytest.fixture
def plain(draw):
    """Projections that change nothing, so that what is shown is attention itself."""

    def make(width, other):
        found = {}
        for name in NAMES:
            inner = other if name in ("w_k", "w_v") else width
            eye = torch.eye(width, inner, dtype=draw.precise)
            found[name] = eye if name[0] == "w" else torch.zeros_like(eye[:, 0])
        return found

    return make


def test_attention_alone(solution, draw, agree, plain):
    """Every query blends the values of the context (identity projections)"""
    x, context = draw(2, 3, 8), draw(2, 5, 6)
    agree(solution.cross_attention, x, context, plain(8, 6), 2, gradients=False)


def test_a_longer_context(solution, draw, agree, layer):
    """Accepts a context that is longer than x"""
    agree(solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 2)
    agree(solution.cross_attention, draw(1, 3, 8), draw(1, 4, 10), layer(8, 10), 4)
    backwards = dict(reversed(layer(8, 6).items()))
    agree(solution.cross_attention, draw(1, 3, 8), draw(1, 7, 6), backwards, 2)


def test_a_shorter_context(solution, draw, agree, layer):
    """Accepts a context that is shorter than x, down to a single position"""
    agree(solution.cross_attention, draw(2, 5, 8), draw(2, 3, 6), layer(8, 6), 4)
    agree(solution.cross_attention, draw(2, 5, 8), draw(2, 1, 10), layer(8, 10), 2)
    agree(solution.cross_attention, draw(2, 1, 8), draw(2, 5, 10), layer(8, 10), 2)
    agree(solution.cross_attention, draw(1, 1, 8), draw(1, 1, 6), layer(8, 6), 1)


def test_all_sizes_equal(solution, draw, agree, layer):
    """Is also right when both sequences have the same length and width"""
    agree(solution.cross_attention, draw(4, 4, 16), draw(4, 4, 16), layer(16, 16), 4)
    agree(solution.cross_attention, draw(2, 5, 8), draw(2, 5, 8), layer(8, 8), 2)


def test_other_numbers_of_heads(solution, draw, agree, layer):
    """Works with one head, and with as many heads as entries"""
    for heads in (1, 6):
        agree(solution.cross_attention, draw(2, 3, 6), draw(2, 5, 4), layer(6, 4), heads)


def test_padding_of_the_context(solution, draw, agree, layer):
    """Gives padding of the context weight zero"""
    keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1]]).bool()
    agree(solution.cross_attention, draw(3, 4, 8), draw(3, 5, 6), layer(8, 6), 2, keep)
    agree(solution.cross_attention, draw(3, 5, 8), draw(3, 5, 6), layer(8, 6), 4, keep=keep)
    agree(solution.cross_attention, draw(3, 4, 8), draw(3, 5, 6), layer(8, 6), 2, keep | True)


def test_an_empty_context(solution, draw, agree, layer):
    """Gives b_o and finite gradients where all of the context is padding"""
    keep = torch.tensor([[0, 0, 0, 0, 0], [1, 0, 1, 1, 0]]).bool()
    agree(solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 2, keep=keep)
    agree(solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 2, keep & False)


@pytest.mark.law("cross_attention")
def test_a_width_that_does_not_divide(solution, draw, layer, refuses):
    """Raises ValueError when num_heads does not divide the width"""
    refuses(solution.cross_attention, ValueError, draw(2, 3, 9), draw(2, 5, 6), layer(9, 6), 2)
    refuses(solution.cross_attention, ValueError, draw(2, 3, 4), draw(2, 5, 6), layer(4, 6), 8)
    refuses(solution.cross_attention, ValueError, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 3)


def test_large_scores(solution, draw, agree, layer):
    """Stays finite for scores in the thousands"""
    x, context = draw(2, 3, 8, spread=120.0), draw(2, 5, 6, spread=120.0)
    agree(solution.cross_attention, x, context, layer(8, 6), 2, gradients=False, tolerance=2e-2)


def test_loud_padding(solution, draw, agree, layer):
    """Masks padding that is thousands of times larger than the context"""
    keep = torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]]).bool()
    context = draw(2, 5, 6) * torch.where(keep, 1.0, 5000.0)[..., None]
    agree(solution.cross_attention, draw(2, 3, 8), context, layer(8, 6), 2, keep, tolerance=1e-3)


def test_very_low_scores(solution, draw, agree, layer):
    """Scores that are not masked may be very low"""
    # Entries of q near 3 and of k near -20000: scores near -120000, a few apart.
    weights = layer(8, 6)
    weights["b_q"], weights["b_k"] = weights["b_q"] / 9 + 3, weights["b_k"] - 2e4
    weights["w_q"] = weights["w_q"] / 9
    keep = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 1, 0]]).bool()
    x, context = draw(2, 3, 8), draw(2, 5, 6)
    agree(solution.cross_attention, x, context, weights, 2, keep, gradients=False, tolerance=2e-2)
    # One key that may be read, as low as the dtypes go.
    alone = torch.tensor([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0]]).bool()
    for dtype, high, low in ((torch.float32, 1e18, -1e18), (torch.float16, 60.0, -200.0)):
        x, context = draw(2, 3, 8, dtype=dtype), draw(2, 5, 6, dtype=dtype)
        weights = layer(8, 6, dtype)
        weights |= {"w_q": weights["w_q"] * 0, "w_k": weights["w_k"] * 0}
        weights |= {"b_q": weights["b_q"] * 0 + high, "b_k": weights["b_k"] * 0 + low}
        agree(solution.cross_attention, x, context, weights, 2, alone, gradients=False)


def test_heads_far_apart(solution, draw, agree, layer):
    """Scores of different heads may be far apart"""
    weights = layer(8, 6)
    weights["b_q"], weights["b_k"] = weights["b_q"] + 9, weights["b_k"].clone()
    weights["b_k"][4:] -= 300
    x, context = draw(2, 3, 8), draw(2, 5, 6)
    agree(solution.cross_attention, x, context, weights, 2, tolerance=2e-2)


def test_other_dtypes(solution, draw, agree, layer, dtypes):
    """Returns the dtype of its inputs, also in half precision"""
    for dtype in dtypes:
        x, context = draw(2, 3, 8, dtype=dtype), draw(2, 5, 6, dtype=dtype)
        agree(solution.cross_attention, x, context, layer(8, 6, dtype), 2)
        keep = torch.tensor([[1, 1, 1, 0, 1], [0, 0, 1, 1, 1]]).bool()
        agree(solution.cross_attention, x, context, layer(8, 6, dtype), 4, keep)
        agree(solution.cross_attention, x, context, layer(8, 6, dtype), 4, keep & ~keep[:1])


def test_any_memory_layout(solution, draw, agree, layer):
    """Accepts inputs of any memory layout"""
    x, context = draw(3, 2, 8).transpose(0, 1), draw(2, 6, 5).transpose(1, 2)
    agree(solution.cross_attention, x, context, layer(8, 6), 2)
    turned = {n: w.t().contiguous().t() for n, w in layer(8, 6).items()}
    keep = torch.tensor([[1, 0], [1, 1], [0, 1], [1, 1], [1, 0]]).bool().t()
    agree(solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), turned, 2, keep)


def test_a_second_call(solution, draw, agree, layer):
    """Keeps no state between calls of different lengths or padding"""
    for queries, keys in ((3, 5), (6, 2), (3, 5)):
        agree(solution.cross_attention, draw(2, queries, 8), draw(2, keys, 6), layer(8, 6), 2)
        keep = draw.order(keys).expand(2, keys) > 0
        for rule in (keep, ~keep, None):
            x, context = draw(2, queries, 8), draw(2, keys, 6)
            agree(solution.cross_attention, x, context, layer(8, 6), 2, rule)


@pytest.mark.law("cross_attention")
def test_order_of_the_context(solution, draw, layer, same):
    """Law: reordering the context changes nothing"""
    x, context, weights, order = draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), draw.order(5)
    same(
        solution.cross_attention(x, context[:, order], weights, 2),
        solution.cross_attention(x, context, weights, 2),
        "reordering the context changed the result",
    )


@pytest.mark.law("cross_attention")
def test_queries_are_apart(solution, draw, layer, same):
    """Law: queries do not affect each other"""
    x, context, weights = draw(2, 3, 8), draw(2, 5, 6), layer(8, 6)
    same(
        solution.cross_attention(x[:, 1:2], context, weights, 2),
        solution.cross_attention(x, context, weights, 2)[:, 1:2],
        "a query gives different results alone and among other queries",
    )


@pytest.mark.law("cross_attention")
def test_padding_is_silent(solution, draw, layer, same):
    """Law: changing the padding of the context changes nothing"""
    x, context, weights = draw(2, 3, 8), draw(2, 5, 6), layer(8, 6)
    keep = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]).bool()
    same(
        solution.cross_attention(x, context + 9 * (~keep)[..., None], weights, 2, keep),
        solution.cross_attention(x, context, weights, 2, keep),
        "changing the padding changed the result",
    )


@pytest.mark.law("cross_attention")
def test_follows_the_device(solution, draw, layer, follows_device):
    """Creates every tensor on the device of its inputs"""
    follows_device(solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 2)
    keep = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]).bool()
    follows_device(
        solution.cross_attention, draw(2, 3, 8), draw(2, 5, 6), layer(8, 6), 2, keep=keep
    )
