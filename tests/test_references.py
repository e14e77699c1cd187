"""The references are checked themselves: PyTorch's operators and plain NumPy as second opinions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention_katas.examiner.judge import load_module


@pytest.fixture
def softmax(catalog):
    return load_module(catalog["softmax"].reference).softmax


@pytest.fixture
def attention_scores(catalog):
    return load_module(catalog["dot-product"].reference).attention_scores


def numpy_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    """Entry by entry, in the order of the definition."""
    out = np.empty_like(x)
    for index in np.ndindex(*np.delete(x.shape, axis)):
        slot = (*index[:axis], slice(None), *index[axis:])
        row = [np.exp(value - max(x[slot])) for value in x[slot]]
        out[slot] = [value / sum(row) for value in row]
    return out


@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_softmax_agrees_with_torch_and_numpy(softmax, dim):
    x = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    assert torch.allclose(softmax(x, dim), torch.softmax(x, dim), rtol=0, atol=1e-14)
    mine = softmax(x, dim).numpy()
    assert np.abs(mine - numpy_softmax(x.numpy(), dim)).max() < 1e-14


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e3, 1e30, -3e38])
def test_softmax_is_stable(softmax, offset):
    x = torch.randn(4, 6) + offset
    assert torch.allclose(softmax(x), torch.softmax(x, -1), atol=1e-6)


def test_softmax_hides_minus_infinity(softmax):
    x = torch.tensor([[0.0, -torch.inf, 1.0]], dtype=torch.float64, requires_grad=True)
    weights = softmax(x)
    assert weights[0, 1] == 0
    weights[0, 2].backward()
    assert torch.isfinite(x.grad).all()


def test_scores_agree_with_torch_and_numpy(attention_scores):
    q, k = (
        torch.randn(2, 3, 4, 6, dtype=torch.float64),
        torch.randn(2, 3, 5, 6, dtype=torch.float64),
    )
    assert torch.allclose(attention_scores(q, k), torch.einsum("bhid,bhjd->bhij", q, k))
    for b, h, i, j in np.ndindex(2, 3, 4, 5):
        slow = sum(x * y for x, y in zip(q[b, h, i].tolist(), k[b, h, j].tolist(), strict=True))
        assert abs(float(attention_scores(q, k)[b, h, i, j]) - slow) < 1e-12


def test_gradients_are_those_of_finite_differences(softmax, attention_scores):
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    k = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (x,))
    assert torch.autograd.gradcheck(attention_scores, (x, k))
