"""The references are checked themselves: PyTorch's operators and plain NumPy as second opinions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_katas.judge.modules import load_module


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


@pytest.fixture
def reference(catalog):
    return lambda name: load_module(catalog[name].reference)


def test_scaled_scores_are_the_scores_divided(reference):
    q, k = torch.randn(2, 3, 4, 6).double(), torch.randn(2, 3, 5, 6).double()
    slow = torch.einsum("bhid,bhjd->bhij", q, k) / np.sqrt(6)
    assert torch.allclose(reference("scale").scaled_scores(q, k), slow)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("lengths", [(5, 5), (4, 7), (7, 4), (1, 6), (16, 16)])
def test_attention_is_torchs(reference, causal, lengths):
    t_q, t_k = lengths
    q, k = torch.randn(2, 3, t_q, 8).double(), torch.randn(2, 3, t_k, 8).double()
    v = torch.randn(2, 3, t_k, 5).double()
    inputs = [tensor.requires_grad_() for tensor in (q, k, v)]
    mine = reference("mask").scaled_dot_product_attention(*inputs, causal)
    real = F.scaled_dot_product_attention(*inputs, is_causal=causal)
    assert torch.allclose(mine, real, rtol=0, atol=1e-13)
    upstream = torch.randn_like(real)
    for a, b in zip(
        torch.autograd.grad(mine, inputs, upstream),
        torch.autograd.grad(real, inputs, upstream),
        strict=True,
    ):
        assert torch.allclose(a, b, rtol=0, atol=1e-12)


def test_masked_weights_are_those_of_numpy(reference):
    scores = torch.randn(3, 2, 4, 5).double()
    keep = torch.tensor([[1, 1, 1, 1, 1], [0, 1, 1, 0, 1], [0, 0, 0, 0, 0]]).bool()
    mine = reference("mask").masked_weights(scores, keep)
    for b, h, i in np.ndindex(3, 2, 4):
        seen = [j for j in range(5) if j <= i and keep[b, j]]
        e = {j: np.exp(float(scores[b, h, i, j])) for j in seen}
        for j in range(5):
            wanted = e[j] / sum(e.values()) if j in e else 0.0
            assert abs(float(mine[b, h, i, j]) - wanted) < 1e-14


def linear_weights(layer, width, context):
    """The weights of an nn.MultiheadAttention under the katas' names."""
    if layer.in_proj_weight is not None:
        w_q, w_k, w_v = layer.in_proj_weight.detach().chunk(3)
    else:
        w_q, w_k, w_v = (
            p.detach() for p in (layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight)
        )
    b_q, b_k, b_v = layer.in_proj_bias.detach().chunk(3)
    assert w_k.shape == (width, context)
    return {
        "w_q": w_q,
        "w_k": w_k,
        "w_v": w_v,
        "b_q": b_q,
        "b_k": b_k,
        "b_v": b_v,
        "w_o": layer.out_proj.weight.detach(),
        "b_o": layer.out_proj.bias.detach(),
    }


def torch_layer(width, heads, context=None):
    layer = torch.nn.MultiheadAttention(
        width, heads, kdim=context, vdim=context, batch_first=True, dtype=torch.float64
    )
    torch.nn.init.normal_(layer.in_proj_bias)
    torch.nn.init.normal_(layer.out_proj.bias)
    return layer


@pytest.mark.parametrize("heads", [1, 3, 12])
@pytest.mark.parametrize("causal", [True, False])
def test_multi_head_attention_is_torchs(reference, heads, causal):
    layer, x = torch_layer(12, heads), torch.randn(3, 5, 12).double()
    keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 1, 0]]).bool()
    future = torch.ones(5, 5).bool().triu(1) if causal else None
    real, _ = layer(x, x, x, key_padding_mask=~keep, attn_mask=future)
    mine = reference("multihead").multi_head_attention(
        x, linear_weights(layer, 12, 12), heads, causal, keep
    )
    assert torch.allclose(mine, real, rtol=0, atol=1e-13)


def test_a_query_without_a_key_gets_the_last_bias(reference):
    layer, x = torch_layer(12, 3), torch.randn(2, 5, 12).double()
    keep = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]]).bool()
    weights = linear_weights(layer, 12, 12)
    mine = reference("multihead").multi_head_attention(x, weights, 3, True, keep)
    assert torch.allclose(mine[0, :2], weights["b_o"].expand(2, 12))
    assert torch.allclose(mine[1], weights["b_o"].expand(5, 12))


@pytest.mark.parametrize("heads", [1, 4])
def test_cross_attention_is_torchs(reference, heads):
    layer = torch_layer(8, heads, 6)
    x, context = torch.randn(2, 3, 8).double(), torch.randn(2, 5, 6).double()
    keep = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 1]]).bool()
    real, _ = layer(x, context, context, key_padding_mask=~keep)
    mine = reference("cross-attention").cross_attention(
        x, context, linear_weights(layer, 8, 6), heads, keep
    )
    assert torch.allclose(mine, real, rtol=0, atol=1e-13)


def test_heads_that_cannot_share_are_refused(reference):
    layer = linear_weights(torch_layer(8, 2), 8, 8)
    x = torch.randn(2, 3, 8).double()
    for act in (
        lambda: reference("multihead").split_heads(x, 3),
        lambda: reference("multihead").split_heads(x, 0),
        lambda: reference("multihead").split_heads(x, -2),
        lambda: reference("multihead").multi_head_attention(x, layer, 3),
        lambda: reference("cross-attention").cross_attention(x, x, layer, 3),
    ):
        with pytest.raises(ValueError, match="cannot be shared"):
            act()


def test_the_lesson_of_scale_shows_what_the_script_prints(catalog):
    script = Path(__file__).parents[1] / "docs" / "spread.py"
    table = load_module(script).table()
    lesson = (catalog["scale"].folder / "lesson.md").read_text(encoding="utf-8")
    assert "\n".join("    " + line for line in table.splitlines()) in lesson


def test_gradients_are_those_of_finite_differences(softmax, attention_scores):
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    k = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (x,))
    assert torch.autograd.gradcheck(attention_scores, (x, k))
