"""Hidden tests of the softmax kata.

Shapes have all sizes different, so that no wrong axis fits by accident.
"""

import pytest
import torch

INF = float("inf")


def test_a_matrix_of_scores(solution, draw, agree):
    """Turns each row of a matrix into weights"""
    agree(solution.softmax, draw(3, 5), weights=-1)


def test_a_batch_of_heads(solution, draw, agree):
    """Works on a batch of heads, along the last axis by default"""
    agree(solution.softmax, draw(2, 3, 4, 5), weights=-1)


def test_one_axis_alone(solution, draw, agree):
    """Works on a single row, and on a batch of one"""
    agree(solution.softmax, draw(6), weights=-1)
    agree(solution.softmax, draw(1, 4, 6), weights=-1)
    agree(solution.softmax, draw(4, 3, 1, 5), weights=-1)


def test_honours_dim(solution, draw, agree):
    """Sums to one along dim, not always along the last axis"""
    for dim in range(-4, 4):
        agree(solution.softmax, draw(2, 3, 4, 5), dim=dim, weights=dim)
    agree(solution.softmax, draw(3, 4), 0, weights=0)
    agree(solution.softmax, draw(3, 4, 5), 1, weights=1)
    agree(solution.softmax, draw(2, 1, 3, 4, 2), dim=2, weights=2)


def test_entries_of_any_size(solution, draw, agree):
    """Stays finite for scores of 1000 and of -1000"""
    x = draw(3, 5, dtype=torch.float32)
    agree(solution.softmax, x + 1000, tolerance=1e-3, weights=-1)
    agree(solution.softmax, x - 1000, tolerance=1e-3, weights=-1)
    agree(solution.softmax, x.to(draw.precise) - 3e4, tolerance=1e-2, weights=-1)
    # As far apart as the dtypes go.
    for ends in (torch.tensor([3e38, 1.0, -3e38]), torch.tensor([6e4, 1.0, -6e4]).half()):
        agree(solution.softmax, ends, weights=-1)
        agree(solution.softmax, -ends, weights=-1)


def test_rows_far_apart(solution, draw, agree):
    """Subtracts the maximum of each row: rows 500 apart are both right"""
    x = draw(2, 4, 5, dtype=torch.float32)
    agree(
        solution.softmax,
        x + torch.tensor([0.0, -500.0, 500.0, 9.0])[:, None],
        tolerance=1e-3,
        weights=-1,
    )


def test_long_rows(solution, draw, agree):
    """Is right for rows of 300 scores, rising or falling"""
    lean = torch.linspace(-6, 6, 300, dtype=draw.precise)
    agree(solution.softmax, draw(6, 300) + lean, weights=-1)
    agree(solution.softmax, draw(6, 300) - lean, weights=-1)


def test_one_entry_far_above(solution, draw, agree):
    """Is right when one score is far above the rest of its row"""
    x = draw(3, 6, dtype=torch.float32)
    x[0, 1], x[1, 4], x[2, 0], x[2, 5] = 200.0, 5e4, 300.0, 299.0
    agree(solution.softmax, x, tolerance=1e-3, weights=-1)
    agree(solution.softmax, x.to(draw.precise), tolerance=1e-3, weights=-1)


def test_minus_infinity_gets_zero(solution, draw, agree):
    """Gives -inf entries a weight of exactly zero, with finite gradients"""
    x = draw(3, 4, 6)
    hidden = torch.zeros(4, 6, dtype=torch.bool)
    hidden[0, 1:] = hidden[1, 3:] = hidden[2, ::2] = True
    x = x.masked_fill(hidden, -INF)
    hidden = hidden.expand(3, 4, 6)
    agree(solution.softmax, x, weights=-1, masked=hidden)
    agree(solution.softmax, x.transpose(0, 2), dim=0, weights=0, masked=hidden.transpose(0, 2))
    agree(solution.softmax, x.float(), weights=-1, masked=hidden)
    # One finite entry, lower than any number that might stand in for -inf.
    alone = torch.full((2, 5), -INF)
    alone[0, 3] = alone[1, 0] = -1e30
    agree(solution.softmax, alone, weights=-1, masked=alone == -INF)


def test_other_dtypes(solution, draw, agree, dtypes):
    """Returns the dtype of its input, also in half precision"""
    for dtype in dtypes:
        agree(solution.softmax, draw(3, 4, 7, dtype=dtype), weights=-1)
        agree(solution.softmax, draw(3, 4, 7, dtype=dtype), dim=1, weights=1)
    # Beyond what exponentials hold, in half precision and in float32. Scores are coarse there.
    agree(solution.softmax, draw(3, 7).half() + 100, tolerance=6e-2, weights=-1)


def test_any_memory_layout(solution, draw, agree):
    """Accepts inputs of any memory layout"""
    agree(solution.softmax, draw(5, 4, 3).transpose(0, 2), weights=-1)
    agree(solution.softmax, draw(4, 10)[:, ::2], weights=-1)


def test_a_second_call(solution, draw, agree):
    """Keeps no state between calls of different lengths"""
    x = draw(2, 5)
    agree(solution.softmax, x, weights=-1)
    agree(solution.softmax, draw(2, 8), weights=-1)
    agree(solution.softmax, x, weights=-1)


def test_gradients_of_two_calls(solution, draw, same):
    """Keeps two calls apart, also in the backward pass"""
    x, y, upstream = draw(2, 5).requires_grad_(), draw(2, 5).requires_grad_(), draw(2, 5)
    first, second = solution.softmax(x), solution.softmax(y)
    for answer, leaf in ((first, x), (second, y)):
        (answer * upstream).sum().backward()
        truth = torch.autograd.grad((torch.softmax(leaf, -1) * upstream).sum(), leaf)[0]
        assert leaf.grad is not None, "no gradient reaches x: the result is detached from the graph"
        same(leaf.grad, truth, "after two calls, the gradient of one call is wrong")


@pytest.mark.law("softmax")
def test_weights_sum_to_one(solution, draw, same):
    """Law: the weights of every row sum to one"""
    weights = solution.softmax(draw(2, 4, 16, 16, spread=3.0))
    same(weights.sum(-1), torch.ones_like(weights[..., 0]), "a row does not sum to 1")


@pytest.mark.law("softmax")
def test_shifting_changes_nothing(solution, draw, same):
    """Law: adding one number to a whole row changes nothing"""
    x = draw(3, 7)
    same(
        solution.softmax(x + 12.5),
        solution.softmax(x),
        "adding 12.5 to every score changed the weights",
    )


@pytest.mark.law("softmax")
def test_permuting_permutes(solution, draw, same):
    """Law: reordering the scores reorders the weights and changes nothing else"""
    x, order = draw(3, 7), draw.order(7)
    same(
        solution.softmax(x[:, order]),
        solution.softmax(x)[:, order],
        "reordering the scores changed more than the order of the weights",
    )


@pytest.mark.law("softmax")
def test_follows_the_device(solution, draw, follows_device):
    """Creates every tensor on the device of its input"""
    follows_device(solution.softmax, draw(2, 3, 5))
