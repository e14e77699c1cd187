"""Hidden tests of the mask kata.

Queries and keys differ in number, in both directions, since a square hides most mistakes of a
mask; padding stands on either side, since only a hole in front leaves a query without a key.
"""

import pytest
import torch
import torch.nn.functional as F


def test_a_square_mask(solution, agree):
    """causal_mask: query i may attend to keys 0 to i"""
    agree(solution.causal_mask, 4, 4)
    agree(solution.causal_mask, 1, 1)


def test_a_mask_of_any_shape(solution, agree):
    """causal_mask: is aligned to the top left corner, also when the lengths differ"""
    agree(solution.causal_mask, 3, 6)
    agree(solution.causal_mask, 6, 3)
    agree(solution.causal_mask, 1, 5)
    agree(solution.causal_mask, 5, 1)
    agree(solution.causal_mask, 3, 4, "cpu")


def test_a_large_mask(solution, agree):
    """causal_mask: may be thousands of positions wide or high"""
    agree(solution.causal_mask, 70, 90)
    agree(solution.causal_mask, 3, 4200)
    agree(solution.causal_mask, 4200, 3)
    agree(solution.causal_mask, 2100, 2100)


def test_weights_without_padding(solution, draw, agree, hidden):
    """masked_weights: future keys get weight zero, the rest of a row sums to one"""
    agree(solution.masked_weights, draw(2, 3, 5, 5), weights=-1, masked=hidden(2, 3, 5, 5))


def test_weights_on_rectangles(solution, draw, agree, hidden):
    """masked_weights: fewer queries than keys, or more"""
    agree(solution.masked_weights, draw(2, 3, 4, 6), weights=-1, masked=hidden(2, 3, 4, 6))
    agree(solution.masked_weights, draw(2, 3, 6, 4), weights=-1, masked=hidden(2, 3, 6, 4))
    agree(solution.masked_weights, draw(2, 3, 1, 5), weights=-1, masked=hidden(2, 3, 1, 5))


def test_weights_of_one_thing(solution, draw, agree, hidden):
    """masked_weights: one sequence, one head, one query or one key"""
    for shape in ((1, 1, 4, 5), (3, 1, 4, 5), (2, 3, 4, 1), (1, 1, 1, 1)):
        agree(solution.masked_weights, draw(*shape), weights=-1, masked=hidden(*shape))


def test_weights_with_padding(solution, draw, agree, hidden):
    """masked_weights: padding gets weight zero; each sequence of the batch has its own padding"""
    keep = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 1, 1, 0, 1]]).bool()
    for queries in (4, 6, 8):
        scores = draw(3, 2, queries, 6)
        masked = hidden(3, 2, queries, 6, keep)
        agree(solution.masked_weights, scores, keep, weights=-1, masked=masked)
    agree(solution.masked_weights, draw(3, 2, 5, 6), torch.ones(3, 6).bool(), weights=-1)


def test_a_tempting_future(solution, draw, agree, hidden):
    """masked_weights: a masked score may be far above all other scores"""
    scores, masked = draw(2, 2, 5, 5), hidden(2, 2, 5, 5)
    agree(solution.masked_weights, scores + 2000 * masked, weights=-1, masked=masked)
    high = (scores + 1000 * masked).float()
    agree(solution.masked_weights, high, tolerance=1e-3, weights=-1, masked=masked)
    # One visible key, as low as half precision goes, and hidden ones almost as high.
    alone = torch.tensor([-30000.0, 40000, 40000, 0, 40000]).expand(2, 2, 1, 5)
    masked = hidden(2, 2, 1, 5)
    for dtype, size in ((torch.float16, 1.0), (torch.bfloat16, 3.0), (torch.float32, 5e33)):
        scores = (alone * size).to(dtype)
        agree(solution.masked_weights, scores, weights=-1, masked=masked)


def test_rows_far_apart(solution, draw, agree, hidden):
    """masked_weights: scores of rows, heads and sequences may be far apart"""
    masked = hidden(2, 2, 4, 5)
    for shape in ((1, 1, 4, 1), (1, 2, 1, 1), (2, 1, 1, 1)):
        apart = 800 * torch.arange(4.0)[: max(shape)].reshape(shape)
        scores = draw(2, 2, 4, 5) + apart
        agree(solution.masked_weights, scores, tolerance=1e-3, weights=-1, masked=masked)


def test_a_query_without_a_key(solution, draw, agree, hidden):
    """masked_weights: a query whose keys are all masked gets zeros and zero gradients"""
    keep = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]).bool()
    masked = hidden(3, 2, 4, 5, keep)
    agree(solution.masked_weights, draw(3, 2, 4, 5), keep, weights=-1, masked=masked)


def test_very_low_scores(solution, draw, agree, hidden):
    """masked_weights: scores that are not masked may be very low"""
    masked = hidden(2, 2, 4, 5)
    scores = draw(2, 2, 4, 5) - 2e4
    agree(solution.masked_weights, scores, tolerance=1e-2, weights=-1, masked=masked)
    # All equal, so that softmax in float32 sees no difference.
    scores = torch.full((2, 2, 4, 5), -2e9, dtype=draw.precise)
    agree(solution.masked_weights, scores, weights=-1, masked=masked)


def test_weights_in_other_dtypes(solution, draw, agree, dtypes, hidden):
    """masked_weights: returns the dtype of the scores, also in half precision"""
    keep = torch.tensor([[1, 1, 1, 0, 1], [0, 0, 1, 1, 1]]).bool()
    for dtype in dtypes:
        scores = draw(2, 3, 4, 5, dtype=dtype)
        agree(solution.masked_weights, scores, weights=-1, masked=hidden(2, 3, 4, 5))
        agree(solution.masked_weights, scores, keep, weights=-1, masked=hidden(2, 3, 4, 5, keep))


def test_weights_in_any_memory_layout(solution, draw, agree, hidden):
    """masked_weights: accepts scores of any memory layout"""
    masked = hidden(2, 3, 4, 5)
    agree(solution.masked_weights, draw(2, 3, 5, 4).mT, weights=-1, masked=masked)
    agree(solution.masked_weights, draw(2, 4, 3, 5).transpose(1, 2), weights=-1, masked=masked)


def test_attention_without_a_mask(solution, draw, agree):
    """attention: every query attends to all keys when causal is False"""
    attention = solution.scaled_dot_product_attention
    agree(attention, draw(2, 3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 7), causal=False)
    agree(attention, draw(2, 3, 4, 5), draw(2, 3, 4, 5), draw(2, 3, 4, 5), False)


def test_causal_attention_on_squares(solution, draw, agree):
    """attention: causal, as many queries as keys"""
    attention = solution.scaled_dot_product_attention
    agree(attention, draw(2, 3, 5, 4), draw(2, 3, 5, 4), draw(2, 3, 5, 4), causal=True)
    agree(attention, draw(4, 4, 4, 4), draw(4, 4, 4, 4), draw(4, 4, 4, 4))


def test_causal_attention_on_rectangles(solution, draw, agree):
    """attention: causal, fewer queries than keys or more (T_q is not T_k)"""
    attention = solution.scaled_dot_product_attention
    agree(attention, draw(2, 3, 4, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 7))
    agree(attention, draw(2, 3, 6, 5), draw(2, 3, 4, 5), draw(2, 3, 4, 7))
    agree(attention, draw(2, 3, 1, 5), draw(2, 3, 6, 5), draw(2, 3, 6, 7))


def test_attention_of_one_thing(solution, draw, agree):
    """attention: one sequence, one head, one query, one key, or values of width one"""
    attention = solution.scaled_dot_product_attention
    agree(attention, draw(1, 1, 3, 4), draw(1, 1, 5, 4), draw(1, 1, 5, 6))
    agree(attention, draw(2, 1, 3, 4), draw(2, 1, 1, 4), draw(2, 1, 1, 6))
    agree(attention, draw(2, 3, 4, 1), draw(2, 3, 5, 1), draw(2, 3, 5, 1), causal=False)
    agree(attention, draw(1, 1, 1, 1), draw(1, 1, 1, 1), draw(1, 1, 1, 1))


def test_against_the_real_thing(solution, draw, same):
    """attention: equals F.scaled_dot_product_attention at (2, 4, 16, 32)"""
    q, k, v = (draw(2, 4, 16, 32, dtype=torch.float32) for _ in range(3))
    mine = solution.scaled_dot_product_attention(q, k, v, causal=True)
    real = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    same(mine, real, "the result differs from that of F.scaled_dot_product_attention")


def test_attention_with_large_scores(solution, draw, agree):
    """attention: stays finite for scores in the thousands"""
    q, k, v = draw(2, 2, 5, 8, spread=60.0), draw(2, 2, 6, 8, spread=60.0), draw(2, 2, 6, 3)
    for causal in (True, False):
        agree(
            solution.scaled_dot_product_attention,
            q,
            k,
            v,
            causal=causal,
            gradients=False,
            tolerance=2e-2,
        )


def test_attention_with_a_loud_future(solution, draw, agree):
    """attention: masks later keys that are a thousand times larger"""
    louder = torch.tensor([1.0, 1, 1, 1000, 1000])[:, None]
    q, k, v = draw(2, 2, 3, 4), draw(2, 2, 5, 4) * louder, draw(2, 2, 5, 3)
    agree(solution.scaled_dot_product_attention, q, k, v, tolerance=1e-3)
    # And visible scores may be far below what is often taken for minus infinity.
    q, k = draw(2, 2, 3, 4) / 9 + 3, draw(2, 2, 3, 4) - 2e4
    agree(solution.scaled_dot_product_attention, q, k, v[:, :, :3], tolerance=2e-2, gradients=False)
    for dtype, high, low in ((torch.float32, 1e18, -1e18), (torch.float16, 60.0, -200.0)):
        q, k = torch.full((2, 2, 1, 4), high), torch.full((2, 2, 5, 4), low)
        agree(solution.scaled_dot_product_attention, q.to(dtype), k.to(dtype), v.to(dtype))


def test_attention_in_other_dtypes(solution, draw, agree, dtypes):
    """attention: returns the dtype of its inputs, also in half precision"""
    for dtype in dtypes:
        q, k = draw(2, 3, 4, 8, dtype=dtype), draw(2, 3, 6, 8, dtype=dtype)
        v = draw(2, 3, 6, 5, dtype=dtype)
        agree(solution.scaled_dot_product_attention, q, k, v)
        agree(solution.scaled_dot_product_attention, q, k, v, causal=False)


def test_attention_in_any_memory_layout(solution, draw, agree):
    """attention: accepts inputs of any memory layout"""
    q, k = draw(2, 4, 3, 5).transpose(1, 2), draw(2, 6, 3, 5).transpose(1, 2)
    v = draw(2, 3, 7, 6).transpose(2, 3)
    agree(solution.scaled_dot_product_attention, q, k, v)


def test_a_second_call(solution, draw, agree):
    """Keeps no state between calls of different lengths or padding"""
    for queries, keys in ((5, 5), (5, 7), (3, 7), (5, 5)):
        agree(solution.masked_weights, draw(1, 2, queries, keys), weights=-1)
        keep = draw.order(keys)[None] > 1
        agree(solution.masked_weights, draw(1, 2, queries, keys), keep, weights=-1)
        agree(solution.masked_weights, draw(1, 2, queries, keys), ~keep, weights=-1)
        q, k, v = draw(1, 2, queries, 4), draw(1, 2, keys, 4), draw(1, 2, keys, 4)
        agree(solution.scaled_dot_product_attention, q, k, v)


@pytest.mark.law("masked_weights", "scaled_dot_product_attention")
def test_the_future_is_silent(solution, draw, same):
    """Law: changing a later word changes no earlier output and no gradient of it"""
    q, k, v = draw(1, 2, 6, 4), draw(1, 2, 6, 4).requires_grad_(), draw(1, 2, 6, 5).requires_grad_()
    before = solution.scaled_dot_product_attention(q, k, v)
    later = torch.zeros(6, 1, dtype=q.dtype)
    later[4:] = 3.0
    after = solution.scaled_dot_product_attention(q, k + later, v - later)
    same(after[:, :, :4], before[:, :, :4], "changing words 4 and 5 changed earlier outputs")
    before[:, :, :4].sum().backward()
    for name, leaf in (("k", k), ("v", v)):
        if leaf.grad is None:
            continue
        later, all_of_it = leaf.grad[:, :, 4:].abs().max(), leaf.grad.abs().max()
        assert later <= 1e-6 * all_of_it, (
            f"outputs 0 to 3 send a gradient of {float(later):.2g} to {name} of later words"
        )


@pytest.mark.law("scaled_dot_product_attention")
def test_slopes(solution, draw, slopes):
    """Law: its gradients equal those measured by finite differences"""
    slopes(solution.scaled_dot_product_attention, *(draw(1, 1, n, 2) for n in (2, 3, 3)))


@pytest.mark.law("scaled_dot_product_attention")
def test_order_of_keys(solution, draw, same):
    """Law: reordering keys together with their values changes nothing (without the mask)"""
    q, k, v, order = draw(2, 2, 3, 4), draw(2, 2, 5, 4), draw(2, 2, 5, 6), draw.order(5)
    attention = solution.scaled_dot_product_attention
    same(
        attention(q, k[:, :, order], v[:, :, order], causal=False),
        attention(q, k, v, causal=False),
        "reordering keys and values together changed the result",
    )


@pytest.mark.law("scaled_dot_product_attention")
def test_a_vague_query(solution, draw, same):
    """Law: a query of zeros gives equal weight to every key it may attend to"""
    k, v = draw(1, 2, 4, 3), draw(1, 2, 4, 5)
    mean = v.cumsum(2) / torch.arange(1, 5, dtype=v.dtype)[:, None]
    same(
        solution.scaled_dot_product_attention(torch.zeros_like(k), k, v),
        mean,
        "queries of zeros should give the mean of the values up to their position",
    )


@pytest.mark.law("causal_mask")
def test_the_mask_follows_its_device(solution, follows_device):
    """causal_mask: is created on the requested device at every call"""
    solution.causal_mask(3, 4)
    follows_device(solution.causal_mask, 3, 4, device=torch.device("meta"))


@pytest.mark.law("masked_weights", "scaled_dot_product_attention")
def test_follows_the_device(solution, draw, follows_device):
    """Creates every tensor on the device of its inputs"""
    solution.masked_weights(draw(2, 3, 4, 5))
    follows_device(solution.masked_weights, draw(2, 3, 4, 5))
    keep = torch.tensor([[1, 1, 1, 0, 1], [0, 0, 1, 1, 1]]).bool()
    follows_device(solution.masked_weights, draw(2, 3, 4, 5), keep)
    q, k, v = draw(1, 2, 3, 4), draw(1, 2, 5, 4), draw(1, 2, 5, 4)
    follows_device(solution.scaled_dot_product_attention, q, k, v)
    follows_device(solution.scaled_dot_product_attention, q, k, v, causal=False)


@pytest.fixture
def hidden():
    """Which entries a causal mask, and padding, hide: to draw them apart."""

    def hide(batch, heads, queries, keys, keep=None):
        allowed = torch.ones(batch, heads, queries, keys, dtype=torch.bool).tril()
        return ~(allowed if keep is None else allowed & keep[:, None, None, :])

    return hide
