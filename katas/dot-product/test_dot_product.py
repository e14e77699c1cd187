"""Hidden tests of the dot-product kata.

Shapes have all sizes different, so that no wrong axis fits by accident; one cube has all sizes
equal, so that a wrong axis runs to the end and is seen by its values.
"""

import pytest


def test_one_sequence(solution, draw, agree):
    """Scores every query against every key"""
    agree(solution.attention_scores, draw(3, 5), draw(4, 5))


def test_a_batch_of_heads(solution, draw, agree):
    """Keeps batch and heads apart"""
    agree(solution.attention_scores, draw(2, 3, 4, 6), draw(2, 3, 5, 6))


def test_any_leading_axes(solution, draw, agree):
    """Accepts any number of leading axes"""
    agree(solution.attention_scores, draw(3, 4, 6), draw(3, 5, 6))
    agree(solution.attention_scores, draw(2, 1, 3, 4, 6), draw(2, 1, 3, 5, 6))


def test_all_sizes_equal(solution, draw, agree):
    """Is also right when every axis has the same size"""
    agree(solution.attention_scores, draw(4, 4, 4, 4), draw(4, 4, 4, 4))
    agree(solution.attention_scores, draw(2, 5, 3), draw(2, 5, 3))


def test_short_and_narrow(solution, draw, agree):
    """Works for one query, one key, and vectors of length one"""
    agree(solution.attention_scores, draw(2, 1, 6), draw(2, 4, 6))
    agree(solution.attention_scores, draw(2, 4, 6), draw(2, 1, 6))
    agree(solution.attention_scores, draw(3, 1), draw(4, 1))


def test_long_vectors_count(solution, draw, agree):
    """Depends on the lengths of the vectors, not only on their directions"""
    agree(solution.attention_scores, draw(3, 5, spread=4.0), draw(4, 5, spread=0.25))
    agree(solution.attention_scores, draw(3, 40, spread=30.0), draw(40, 40, spread=30.0))


def test_other_dtypes(solution, draw, agree, dtypes):
    """Returns the dtype of its inputs, also in half precision"""
    for dtype in dtypes:
        agree(solution.attention_scores, draw(2, 3, 8, dtype=dtype), draw(2, 4, 8, dtype=dtype))


def test_any_memory_layout(solution, draw, agree):
    """Accepts inputs of any memory layout"""
    q, k = draw(5, 3, 2, 6).transpose(1, 2), draw(5, 6, 2, 4).permute(0, 2, 3, 1)
    agree(solution.attention_scores, q, k)


def test_a_second_call(solution, draw, agree):
    """Keeps no state between calls of different lengths"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    agree(solution.attention_scores, q, k)
    agree(solution.attention_scores, draw(2, 6, 5), draw(2, 3, 5))
    agree(solution.attention_scores, q, k)


@pytest.mark.law("attention_scores")
def test_swapping_transposes(solution, draw, same):
    """Law: swapping queries and keys transposes the scores"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    same(
        solution.attention_scores(k, q).transpose(-2, -1),
        solution.attention_scores(q, k),
        "scores of (k, q) are not the transpose of scores of (q, k)",
    )


@pytest.mark.law("attention_scores")
def test_doubling_doubles(solution, draw, same):
    """Law: doubling the queries doubles the scores"""
    q, k = draw(2, 3, 5), draw(2, 4, 5)
    same(
        solution.attention_scores(2 * q, k),
        2 * solution.attention_scores(q, k),
        "doubling the queries did not double the scores",
    )


@pytest.mark.law("attention_scores")
def test_permuting_keys(solution, draw, same):
    """Law: reordering the keys reorders the columns and changes nothing else"""
    q, k, order = draw(2, 3, 5), draw(2, 6, 5), draw.order(6)
    same(
        solution.attention_scores(q, k[:, order]),
        solution.attention_scores(q, k)[..., order],
        "reordering the keys changed more than the order of the columns",
    )


@pytest.mark.law("attention_scores")
def test_follows_the_device(solution, draw, follows_device):
    """Creates every tensor on the device of its inputs"""
    follows_device(solution.attention_scores, draw(2, 3, 5), draw(2, 4, 5))
