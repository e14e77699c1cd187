"""Hidden tests of the scale kata.

Heads, positions and widths all differ, so that no other size can stand in for d_k.
"""

import pytest


def test_one_sequence(solution, draw, agree):
    """Divides the scores by the square root of d_k"""
    agree(solution.scaled_scores, draw(3, 5), draw(4, 5))


def test_a_batch_of_heads(solution, draw, agree):
    """Reads d_k from one head, not from the whole model"""
    agree(solution.scaled_scores, draw(2, 3, 4, 6), draw(2, 3, 5, 6))


def test_other_widths(solution, draw, agree):
    """Is right for every d_k"""
    for width in (1, 2, 16, 64, 100, 130, 520):
        agree(solution.scaled_scores, draw(2, 3, 7, width), draw(2, 3, 5, width))


def test_any_leading_axes(solution, draw, agree):
    """Accepts any number of leading axes"""
    agree(solution.scaled_scores, draw(3, 4, 6), draw(3, 5, 6))
    agree(solution.scaled_scores, draw(2, 1, 3, 4, 6), draw(2, 1, 3, 5, 6))


def test_all_sizes_equal(solution, draw, agree):
    """Is also right when every axis has the same size"""
    agree(solution.scaled_scores, draw(5, 5, 5, 5), draw(5, 5, 5, 5))


def test_other_dtypes(solution, draw, agree, dtypes):
    """Returns the dtype of its inputs, also in half precision"""
    for dtype in dtypes:
        agree(solution.scaled_scores, draw(2, 3, 8, dtype=dtype), draw(2, 4, 8, dtype=dtype))


def test_half_precision_does_not_overflow(solution, draw, agree):
    """Does not overflow in half precision where the scaled result fits"""
    # Products of 65,000 to 110,000 are beyond float16's 65,504; an eighth of them is not.
    q, k = (draw(2, 3, 64).abs() / 10 + 35 for _ in range(2))
    agree(solution.scaled_scores, q.half(), k.half(), tolerance=1e-2)
    # The same for a narrow and for a wide head, where the root is 2, and 32.
    for width, size in ((4, 140), (1024, 9)):
        q, k = (draw(2, 3, width).abs() / 10 + size for _ in range(2))
        agree(solution.scaled_scores, q.half(), k.half(), tolerance=1e-2)


def test_any_memory_layout(solution, draw, agree):
    """Accepts inputs of any memory layout"""
    q, k = draw(5, 3, 2, 6).transpose(1, 2), draw(5, 6, 2, 4).permute(0, 2, 3, 1)
    agree(solution.scaled_scores, q, k)


def test_a_second_call(solution, draw, agree):
    """Keeps no state between calls of different widths"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    agree(solution.scaled_scores, q, k)
    agree(solution.scaled_scores, draw(2, 6, 9), draw(2, 3, 9))
    agree(solution.scaled_scores, q, k)


@pytest.mark.law("scaled_scores")
def test_the_spread_stays(solution, draw):
    """Law: the spread of the scores stays near 1 for every width"""
    for width in (16, 64, 1024):
        spread = float(solution.scaled_scores(draw(20, width), draw(30, width)).std())
        # Chance moves it by a tenth; no root at all makes it 4, 8 and 32.
        assert 0.5 < spread < 2.0, (
            f"for d_k = {width} the spread of your scores is {spread:.3g}; it should stay near 1"
        )


@pytest.mark.law("scaled_scores")
def test_swapping_transposes(solution, draw, same):
    """Law: swapping queries and keys transposes the scores"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    same(
        solution.scaled_scores(k, q).transpose(-2, -1),
        solution.scaled_scores(q, k),
        "scores of (k, q) are not the transpose of scores of (q, k)",
    )


@pytest.mark.law("scaled_scores")
def test_repeating_features(solution, draw, same):
    """Law: repeating every vector four times doubles the scores"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    same(
        solution.scaled_scores(q.repeat(1, 1, 4), k.repeat(1, 1, 4)),
        2 * solution.scaled_scores(q, k),
        "repeating the features four times did not double the scores (the square root of 4 is 2)",
    )


@pytest.mark.law("scaled_scores")
def test_follows_the_device(solution, draw, follows_device):
    """Creates every tensor on the device of its inputs"""
    follows_device(solution.scaled_scores, draw(2, 3, 5), draw(2, 4, 5))
